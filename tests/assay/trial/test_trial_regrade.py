"""`assay trial regrade`: verdicts of a bundle made again, elsewhere, by the task that was graded or by a mended one."""

from __future__ import annotations

import json
import shutil
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from tests.ai_crucible.bundled import Bench, Opened
from tests.assay.trial.test_trial_command import READ, SUBMIT, WRITE
from tests.commands import Commands, bare_world

from ai_crucible.archives import LINK, archive_of, changes_of, entries_of, with_changes
from ai_crucible.keeping import MOST_BYTES, digests_of, keep, work_from
from llm_runtime.errors import StoreDamaged
from llm_runtime.testing import LoopbackServer, Received

Assay = Any


def divided(received: Received) -> str:
    """A model that repairs at every other attempt, and leaves a note besides."""
    turn = received.messages[-1].content.count("<<<ASSISTANT ")
    note = '```tool\n{"tool": "exec", "arguments": {"argv": ["ln", "-s", "total.py", "note"]}}\n```'
    right = received.number % 2 if turn == 1 else 0
    return (READ, WRITE if right else note, SUBMIT)[min(turn, 2)]


@pytest.fixture
async def bundle(assay: Assay, tmp_path: Path) -> AsyncIterator[Path]:
    """The bundle of four attempts, on another machine: another folder, home and configuration, without its shop."""
    await assay("trial", "new", "sum")
    async with LoopbackServer(divided) as server:
        done = await assay(
            "trial", "run", "sum", "--model", f"{server.url}/v1#tiny", "--k", "4", "--at-once", "1", "-q"
        )
        assert done.code == 0, done.err
    trial = next((tmp_path / "shop/logs").iterdir()).name
    assert (await assay("trial", "bundle", trial)).code == 0
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (tmp_path / "trial.assay").rename(elsewhere / "trial.assay")
    (tmp_path / "sum").rename(elsewhere / "sum")
    shutil.rmtree(tmp_path / "shop")
    yield elsewhere / "trial.assay"


@pytest.mark.long
@pytest.mark.usefixtures("boxes")
async def test_verdicts_are_made_again_elsewhere_and_a_mended_oracle_tells_others(
    commands: Commands, bundle: Path
) -> None:
    world, place = bare_world(bundle.parent), bundle.parent

    async def regrade(*arguments: str) -> Any:
        return await commands.run("trial", "regrade", "trial.assay", *arguments, cwd=place, env=world)

    done = await regrade("--tasks", "sum")
    assert done.code == 0 and not done.err, done.out + done.err
    head, *rows, last = done.out.splitlines()
    assert head.split() == ["attempt", "told", "now"] and last == "4 of 4 verdicts are those that were told"
    assert {row.split("  ")[1].strip() for row in rows} == {"passed", "failed: solved, quality"}
    assert len({row.index(row.split()[4]) for row in rows}) == 1  # told stands below told
    told = json.loads((await regrade("--tasks", "sum", "--json")).out)
    assert told["same"] == 4 and [one["same"] for one in told["verdicts"]] == [True] * 4
    assert sorted(one["now"] for one in told["verdicts"]) == [[], [], *[["solved", "quality"]] * 2]
    without = await regrade()
    assert without.code == 2 and "no task sum is here; name the folder that has it (--tasks)" in without.err
    # A mended oracle asks for more than the attempts did.
    checks = json.loads((place / "sum/oracle/checks.json").read_text())
    checks["checks"].append({"name": "a licence", "kind": "file", "path": "total.py", "matches": "Apache"})
    (place / "sum/oracle/checks.json").write_text(json.dumps(checks))
    mended = await regrade("--oracle", "sum")
    assert mended.code == 7 and "graded here with another oracle of sum" in mended.err
    assert mended.out.count("<- another verdict") == 2 and "2 of 4 verdicts are" in mended.out
    # One byte of what an attempt left, and the signature refuses it.
    opened = Opened.of(bundle)
    opened.entries[opened.work] += b"#"
    opened.write(bundle)
    forged = await regrade("--tasks", "sum")
    assert forged.code == 1 and forged.out.startswith(f"work changed: {opened.work}")


async def test_a_bundle_from_before_says_that_it_carries_no_work(assay: Assay, tmp_path: Path, boxes: None) -> None:
    bench = Bench.at(tmp_path / "bench")
    bench.trial("one", "p.")
    bench.bundle("one").rename(tmp_path / "t.assay")
    done = await assay("trial", "regrade", "t.assay")
    assert done.code == 2 and done.err.count("\n") == 1
    assert "carries no work to judge again: it was made before work was kept" in done.err


def test_only_what_is_other_is_kept_and_equal_files_once(tmp_path: Path) -> None:
    before = archive_of({"a.py": b"1", "b.py": b"2", "gone.py": b"3"})
    after = archive_of({"a.py": b"1", "b.py": b"new", "c/d.py": b"new", "__pycache__/a.pyc": b"x"})
    work = keep(tmp_path, before, after)
    assert work and list(work) == ["b.py", "c/d.py", "gone.py"] and work["gone.py"] == ""
    assert len({*digests_of(work)}) == len(list((tmp_path / "works").iterdir())) == 1
    again = with_changes(before, work_from(work, lambda place: (tmp_path / place).read_bytes()))
    left = {name: data for name, (_, data) in entries_of(again).items()}
    assert left == {"a.py": b"1", "b.py": b"new", "c/d.py": b"new"}


def test_a_link_is_kept_as_a_link() -> None:
    before = archive_of({"a.py": b"1"})
    linked = with_changes(before, {"a.py": (LINK, b"/etc/passwd"), "b": (LINK, b"a.py")})
    assert with_changes(before, changes_of(before, linked)) == linked


def test_more_than_is_kept_is_not_kept_at_all(tmp_path: Path) -> None:
    assert keep(tmp_path, archive_of({}), archive_of({"a": bytes(MOST_BYTES), "b": b"1"})) is None
    assert keep(tmp_path, archive_of({}), archive_of({str(n): b"" for n in range(1001)})) is None
    assert not (tmp_path / "works").exists()


def test_a_bundle_that_names_a_file_many_times_fills_no_memory() -> None:
    work = dict.fromkeys(map(str, range(1000)), f"100644 {'0' * 64}")
    with pytest.raises(StoreDamaged, match="more than the 4 MiB that are kept"):
        work_from(work, lambda _: bytes(1 << 20))
