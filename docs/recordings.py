"""Plays the recordings that need optional parts, and keeps their logs for whoever lacks those.

``python -m docs.recordings [NAME...]``; needs every extra, and a sandbox for the trial. No model is asked.
"""

from __future__ import annotations

import asyncio
import io
import lzma
import os
import sys
import tempfile
from pathlib import Path

from assay import __version__, launch
from assay.demo.openings import Opening, opening
from assay.demo.played import ENDING, PLAYED
from llm_runtime.events import RunStarted
from llm_runtime.messages import Reply, Request
from llm_runtime.settings import Settings
from llm_runtime.store import open_store
from llm_runtime.store.transfer import export_run

LOGS = Path(__file__).parents[1] / "src" / "assay" / "demo" / "logs"
_PACE = 4.0


async def nobody(request: Request) -> Reply:
    """The model function of a recording that brings its own."""
    raise AssertionError(f"{request.label} was asked of nobody")


async def play(name: str, recorded: Opening) -> bytes:
    """The log of a recording, played in a folder of its own, which is the current one."""
    store = open_store("runs.db")
    started = RunStarted(
        run_id=f"recording-{name}",
        protocol=recorded.protocol,
        title=recorded.title,
        task=recorded.task,
        settings=recorded.settings,
        seed=recorded.seed,
        origin="demo",
        version=__version__,
    )
    model = recorded.model(_PACE) if recorded.model else nobody
    outcome = await launch.start(started, store, Settings(), model=model)
    if outcome.state != "finished":
        raise SystemExit(f"{name} did not finish: {outcome.error}")
    out = io.BytesIO()
    export_run(store, started.run_id, out)
    store.close()
    return out.getvalue()


def main(names: list[str]) -> None:
    """Play and keep."""
    LOGS.mkdir(exist_ok=True)
    for name in names or PLAYED:
        with tempfile.TemporaryDirectory() as folder:
            # The log names the folder; where this machine keeps it is nobody's business.
            os.environ |= {"XDG_DATA_HOME": f"{folder}/data", "XDG_CONFIG_HOME": f"{folder}/config"}
            os.chdir(folder)
            told = asyncio.run(play(name, opening(name, Path(), _PACE)))
            os.chdir(LOGS)
        if folder in told.decode():
            raise SystemExit(f"the log of {name} names a folder of this machine; it was not kept")
        (LOGS / f"{name}{ENDING}").write_bytes(lzma.compress(told, preset=9))
        sys.stdout.write(f"{name}: {len(told):,} bytes, kept in {(LOGS / f'{name}{ENDING}').stat().st_size:,}\n")


if __name__ == "__main__":
    main(sys.argv[1:])
