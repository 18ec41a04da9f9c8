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
from importlib import resources
from pathlib import Path

from assay.demo import PLAYED, demo_of, demos, has_log, prepare_demo
from assay.launch import Launcher
from llm_runtime.store import open_store
from llm_runtime.store.transfer import export_run

_PACE = 4.0


async def play(name: str) -> bytes:
    """Return the log of a recording, played in a folder of its own, which is the current one."""
    store, recorded = open_store("runs.db"), prepare_demo(name, Path(), _PACE)
    running = await Launcher(store).start(
        recorded.run,
        seed=recorded.seed,
        title=recorded.title,
        run_id=f"recording-{name}",
        origin="demo",
        model=recorded.model,
    )
    outcome = await running.outcome()
    if outcome.state != "finished":
        raise SystemExit(f"{name} did not finish: {outcome.error}")
    out = io.BytesIO()
    export_run(store, running.run_id, out)
    store.close()
    return out.getvalue()


def main(names: list[str]) -> None:
    """Play the recordings, and keep their logs beside them."""
    for name in names or [name for name in demos() if has_log(name)]:
        place = Path(str(resources.files(demo_of(name)[1].folder))) / PLAYED
        with tempfile.TemporaryDirectory() as folder:
            # The log names the folder; where this machine keeps it is nobody's business.
            os.environ |= {"XDG_DATA_HOME": f"{folder}/data", "XDG_CONFIG_HOME": f"{folder}/config"}
            os.chdir(folder)
            log = asyncio.run(play(name))
            os.chdir(place.parent)
        if folder in log.decode():
            raise SystemExit(f"the log of {name} names a folder of this machine; it was not kept")
        place.write_bytes(lzma.compress(log, preset=9))
        sys.stdout.write(f"{name}: {len(log):,} bytes, kept in {place.stat().st_size:,}\n")


if __name__ == "__main__":
    main(sys.argv[1:])
