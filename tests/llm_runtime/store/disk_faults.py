"""Writes both stores on a disk that fails at one write after another; run with ``disk.c`` preloaded.

Each case is a process of its own, a copy of this one. It says into a pipe what it was told to be on disk. Says, as
JSON, how many writes there were, and each case that came out otherwise than it has to.
"""

from __future__ import annotations

import asyncio
import ctypes
import json
import os
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from assay.batch.batches import open_batches
from assay.batch.purses import Purses
from llm_runtime.errors import StoreError
from llm_runtime.events import BudgetMoved, CallFinished, CallStarted, RunFinished, RunStarted
from llm_runtime.messages import Reply, Usage
from llm_runtime.replay import Recording
from llm_runtime.store import SqliteStore
from llm_runtime.store.signing import KeySigner
from llm_runtime.store.verify import verify
from llm_runtime.wrappers.accounts import Caps, Settlement, Spend

KINDS = {"full": 1, "fails": 2, "torn": 3, "cut": 4}
CALLS = 2
CUT_OFF = 137
SIGNER = KeySigner(Path("no file"), "07" * 32)

Say = Callable[[int], None]


def write_run(folder: Path, say: Say) -> None:
    """A run of some calls under a cap, in an event loop, as a launcher writes it."""

    async def calls(store: SqliteStore) -> None:
        log = store.start(RunStarted(run_id="r", protocol="p", title="t", task={}, settings={}, seed=1))
        for number in range(CALLS):
            key = {"digest": f"{number:064x}", "occurrence": 1}
            log.emit(CallStarted(request={"text": "why? " * 400, "n": number}, **key))
            await log.emit(BudgetMoved(**dict.fromkeys(MOVED, number)))
            await log.emit(
                CallFinished(reply=Reply("because " * 200, "a/b", "x", Usage(1, 1), cost=5).to_dict(), **key)
            )
            say(number + 1)
        log.emit(RunFinished(state="finished"))
        await log.aclose()

    with closing(SqliteStore(folder / "runs.db", signer=SIGNER)) as store:
        asyncio.run(calls(store))


MOVED = ("spent_cost", "spent_tokens", "spent_calls", "held_cost", "held_tokens", "held_calls")


def check_run(folder: Path, said: int) -> str:
    with closing(SqliteStore(folder / "runs.db", signer=SIGNER)) as store:
        if not store.runs():
            return "the run is gone" if said else ""
        verification = verify(store, "r")
        if not verification.intact:
            return str(verification.findings)
        answers = len(Recording.from_events(event for _, event in store.events("r")))
        if answers < said:
            return f"{said} answers were on disk, {answers} are left"
        if store.summary("r").state != "finished":
            log = store.reopen("r")
            log.emit(RunFinished(state="stopped"))
            log.close()
        return "" if verify(store, "r").ok or store.summary("r").state == "finished" else "it does not go on"


def write_purse(folder: Path, say: Say) -> None:
    with closing(open_batches(str(folder / "runs.db"))) as database:
        purses = Purses(database)
        purses.open("team", Caps(cost=10**6))
        for number in range(CALLS):
            hold = Spend(10, 10, 1)
            purses.reserve("team", hold)
            purses.settle("team", hold, Settlement(Spend(5, 5, 1)))
            say(number + 1)


def check_purse(folder: Path, said: int) -> str:
    with closing(open_batches(str(folder / "runs.db"))) as database:
        purses = Purses(database)
        if "team" not in purses.all():
            return "the purse is gone" if said else ""
        spent = purses.read("team").spent.calls
        return "" if spent >= said else f"{said} settlements were on disk, {spent} are left"


STORES = {"runs": (write_run, check_run), "batches": (write_purse, check_purse)}


def carry_out(store: str, folder: Path, kind: int, at: int) -> tuple[int, int, int, str]:
    """Write in a copy of this process; return its exit code, what it said, its writes and its error."""
    reading, writing = os.pipe()
    if not (child := os.fork()):
        os.close(reading)
        disk = ctypes.CDLL(None)
        disk.arm(str(folder).encode(), kind, at)
        code, error = 0, ""
        try:
            STORES[store][0](folder, lambda number: os.write(writing, b"%d\n" % number) and None)
        except StoreError as fault:
            code, error = 5, str(fault)
        except BaseException as fault:
            code, error = 1, f"{type(fault).__name__}: {fault}"
        os.write(writing, json.dumps([disk.counted(), error]).encode())
        os._exit(code)
    os.close(writing)
    with os.fdopen(reading) as pipe:
        lines = pipe.read().split("\n")
    _, status = os.waitpid(child, 0)
    said = max((int(line) for line in lines[:-1]), default=0)
    counted, error = json.loads(lines[-1]) if lines[-1] else (0, "")
    return os.waitstatus_to_exitcode(status), said, counted, error


def main(store: str, place: Path) -> None:
    (place / "quiet").mkdir()
    code, said, writes, error = carry_out(store, place / "quiet", 0, 0)
    wrong = [] if (code, said) == (0, CALLS) else [f"undisturbed: {code} {error}"]
    for kind, number in KINDS.items():
        for at in range(1, writes + 1):
            folder = place / f"{kind}-{at}"
            folder.mkdir()
            code, said, _, error = carry_out(store, folder, number, at)
            if kind in ("torn", "cut"):
                well = code in (0, CUT_OFF)
            else:
                well = code == 0 or (code == 5 and ";" in error and "\n" not in error)
            try:
                found = "" if well else f"exit code {code}: {error}"
                found = found or STORES[store][1](folder, said)
            except Exception as fault:
                found = f"{type(fault).__name__}: {fault}"
            if found:
                wrong.append(f"{kind} at {at} of {writes}: {found}")
    print(json.dumps({"writes": writes, "cases": writes * len(KINDS), "wrong": wrong}))


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
