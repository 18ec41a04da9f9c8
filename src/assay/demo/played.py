"""Recordings that were played beforehand: their runs' logs, for whoever lacks an optional part to play them here.

The files are made by ``make recordings``, which plays them through the engines; they are logs like any other.
"""

from __future__ import annotations

import lzma
import random
import time
from importlib import resources
from typing import BinaryIO, cast

from assay.demo import _FOLDERS
from llm_runtime.store import RunStore, new_run_id
from llm_runtime.store.transfer import import_run

PLAYED = ("trial", "build", "debate")
"""Recordings that need an optional part to be played."""
ENDING = ".jsonl.xz"


def import_played(store: RunStore, name: str) -> str:
    """Take over the log of a recording; returns the run's id.

    Raises:
        StoreError: the store cannot be written.
    """
    file = resources.files(_FOLDERS[name]).joinpath("played.jsonl.xz")
    run_id = new_run_id(time.time_ns() // 1_000_000, random.SystemRandom())
    with file.open("rb") as packed, lzma.open(packed) as log:
        return import_run(store, cast("BinaryIO", log), as_id=run_id)
