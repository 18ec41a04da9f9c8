"""A build that is killed before or after any event of its run ends in the same folder and pays nothing again."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from contextlib import closing
from itertools import islice
from pathlib import Path

import pytest
from tests.extent import kills
from turnstile_system import ANSWERS, Script, clock, needs_toolchain

from assay.launch import Followers, Launcher
from assay.registry import read_run
from criticality import create_project
from llm_runtime.events import CallFinished, Event, Record, parse_event
from llm_runtime.settings import Settings
from llm_runtime.store import SqliteStore
from llm_runtime.store.verify import verify

JOURNAL = ".criticality/events.jsonl"
#: What depends on when a kill came.
OWN = {JOURNAL, *(f".criticality/{name}" for name in ("lock", "state.json", "telemetry.json", "written.json"))}


def tree(root: Path) -> dict[str, bytes]:
    """Every file of a project but those whose lines depend on when a kill came."""
    files = {str(path.relative_to(root)): path for path in sorted(root.rglob("*")) if path.is_file()}
    return {name: path.read_bytes() for name, path in files.items() if name not in OWN}


def answered(records: list[Record], journal: Path) -> set[tuple[str, int]]:
    """Calls whose answers the run's log or the project's journal has."""
    bodies = [json.loads(record.body) for record in records]
    bodies += [json.loads(line)["data"] for line in journal.read_text().splitlines()]
    events = [parse_event(body) for body in bodies if body["type"] == "call.finished"]
    return {(event.digest, event.occurrence) for event in events if isinstance(event, CallFinished)}


def points(length: int) -> Iterator[tuple[int, int]]:
    """How many events the log has, and with which one the folder was copied: the journal is never behind by one."""
    for event in range(2, length):
        yield event - 1, event
        yield event, event


@needs_toolchain
@pytest.mark.long
@pytest.mark.toolchain
async def test_a_build_killed_at_any_event_ends_as_if_it_had_not_been(tmp_path: Path) -> None:
    root, copies = tmp_path / "turn-stile", tmp_path / "copies"
    create_project(root, "turn-stile", seed=7, clock=clock)
    with (root / "criticality.toml").open("a") as file:
        file.write("\n[acceptance]\nindependent_bodies = 0\nmutants = 4\n[orchestrator]\nmesoscopic_examples = 40\n")
    task = {"name": "turn-stile", "folder": str(root), "answers": ANSWERS.model_dump(mode="json")}
    heard = 0

    def copy(event: Event) -> None:
        nonlocal heard
        heard += 1
        shutil.copytree(root, copies / str(heard))

    with closing(SqliteStore(tmp_path / "quiet/runs.db", durability="exit")) as store:
        script = Script()
        running = await Launcher(store, Settings, clock=clock).start(
            read_run("criticality.build", task, {}), seed=7, model=script.model(), run_id="r",
            followers=Followers([copy]),
        )  # fmt: skip
        quiet, whole = await running.outcome(), tree(root)
        records = list(store.records("r"))
    assert quiet.state == "finished" and heard == len(records)
    for known, copied in kills(list(points(len(records)))):
        shutil.rmtree(root)
        shutil.copytree(copies / str(copied), root)
        again = Script()
        with closing(SqliteStore(tmp_path / f"{known}-{copied}/runs.db", durability="exit")) as store:
            store.adopt("r", islice(records, known))
            paid = answered(records[:known], root / JOURNAL)
            resumed = await Launcher(store, Settings, clock=clock).resume("r", model=again.model())
            end = await resumed.outcome()
            where = f"killed after event {known}, the folder as at {copied}"
            assert (end.state, end.result) == (quiet.state, quiet.result), f"{where}: {end.error}"
            assert tree(root) == whole, where
            assert len(again.asked) == len(script.asked) - len(paid), where
            assert verify(store, "r").ok
