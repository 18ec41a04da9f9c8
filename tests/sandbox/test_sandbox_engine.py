"""How a box is described to a container engine, which a program stands in for that writes down what it is told."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from sandbox import BoxLimits, NoIsolation, Order, backend

ANSWERS = """#!/bin/sh
echo "$*" >> {told}
case "$1" in
version) echo linux ;;
import) wc -c > /dev/null; echo sha256:made ;;
inspect) echo 4711 ;;
esac
"""


@pytest.fixture(params=["podman", "docker"])
def engine(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """What the engine was told, a line each."""
    told, program = tmp_path / "told", tmp_path / "bin" / request.param
    program.parent.mkdir()
    program.write_text(ANSWERS.format(told=told))
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:/usr/bin:/bin")
    monkeypatch.setenv("ASSAY_SANDBOX", request.param)
    return told


def words(stack: ExitStack, **holds: Any) -> list[str]:
    return backend().start(Order(("true",), BoxLimits(processes=10), **holds), stack).argv


@pytest.mark.parametrize(
    "closed",
    [
        "--network none", "--read-only", "--cap-drop all", "--security-opt no-new-privileges", "--pull=never",
        "--pids-limit 14", "--memory", "--rm",
    ],
)  # fmt: skip
def test_a_container_is_closed_on_every_side(engine: Path, closed: str) -> None:
    with ExitStack() as stack:
        told = " ".join(words(stack))
    assert closed in told and "--privileged" not in told and "docker.sock" not in told


def test_what_it_may_write_is_named_and_all_else_is_read(engine: Path, tmp_path: Path) -> None:
    with ExitStack() as stack:
        told = words(stack, readable=(tmp_path,), writable=(tmp_path / "bin",), mounts={"/oracle": tmp_path})
        shown = [told[at + 1] for at, word in enumerate(told) if word == "--volume"]
        assert [one for one in shown if not one.endswith(":ro")] == [f"{tmp_path / 'bin'}:{tmp_path / 'bin'}:rw"]
        assert f"{tmp_path}:/oracle:ro" in shown
        made = [Path(one.split(":")[0]) for one in shown if one.endswith("/run/launch.py:ro")]
        assert made[0].read_text()
    assert not made[0].exists()


def test_a_container_is_removed_with_its_box(engine: Path) -> None:
    with ExitStack() as stack:
        told = words(stack)
    assert engine.read_text().splitlines()[-1] == f"rm --force --time 0 {told[told.index('--name') + 1]}"


def test_an_image_that_is_named_is_taken_in_place_of_the_hosts_programs(
    engine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ASSAY_SANDBOX_IMAGE", "python:3.12-slim")
    with ExitStack() as stack:
        told = words(stack)
    assert told[told.index("python:3.12-slim") + 1] == "python3"
    assert not [word for word in told if word.startswith("/usr:") or word == "--rootfs"]


@pytest.mark.parametrize("name", ["none", "nonsense"])
def test_nothing_isolates_by_another_name(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASSAY_SANDBOX", name)
    with pytest.raises(NoIsolation, match=r"isolates nothing|no such sandbox"):
        backend()


def test_code_runs_bare_only_where_a_person_says_so(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("ASSAY_SANDBOX", "")
    with pytest.raises(NoIsolation, match="ASSAY_SANDBOX=none says that you want"):
        backend(bare=True)
    monkeypatch.setenv("ASSAY_SANDBOX", "none")
    assert not backend(bare=True).isolates
