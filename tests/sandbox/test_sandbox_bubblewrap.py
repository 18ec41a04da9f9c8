"""How a box is described to bubblewrap."""

from __future__ import annotations

import stat
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from sandbox import BoxLimits, Order, backend


@pytest.fixture(autouse=True)
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A bubblewrap that is never run."""
    place = tmp_path / "bwrap"
    place.touch()
    place.chmod(place.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", str(tmp_path))


def words(**holds: Any) -> list[str]:
    with ExitStack() as stack:
        return backend("bubblewrap").start(Order(("true",), BoxLimits(), **holds), stack).argv


def test_a_folder_below_usr_that_holds_oracles_is_covered() -> None:
    inside = Path("/usr/lib/python3/dist-packages/ai_crucible")
    command = words(hidden=(inside, Path("/home/me/puzzles")))
    assert command[command.index(str(inside)) - 1] == "--tmpfs"
    assert "/home/me/puzzles" not in command


def test_only_a_grading_box_mounts_an_oracle() -> None:
    assert "/oracle" not in words()
    command = words(mounts={"/oracle": Path("/srv")})
    assert command[command.index("/oracle") - 2] == "--ro-bind-fd"


@pytest.mark.parametrize(
    "flag", ["--unshare-all", "--disable-userns", "--die-with-parent", "--new-session", "--clearenv"]
)
def test_a_box_is_closed_on_every_side(flag: str) -> None:
    command = words()
    assert flag in command and "--share-net" not in command
    assert not [word for word in command if word.startswith(("/etc", "/var", "/opt"))][2:], "links of programs alone"
