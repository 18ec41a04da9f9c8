"""A small puzzle to start from: the trivial one that comes with the package, under another name."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, cast

from ai_crucible.catalog_paths import BUILT_IN
from ai_crucible.puzzle_files import write_puzzle
from ai_crucible.puzzle_loader import load_puzzle
from ai_crucible.types import Puzzle, PuzzleMeta
from llm_runtime.models import fits

_MODEL = BUILT_IN / "off-by-one-total"


def new(folder: Path) -> Puzzle:
    """Write a small puzzle that passes its check, to start from. Its folder's name is its id.

    Raises:
        ConfigurationError: the folder exists, or its name is no id.
    """
    meta = cast("dict[str, Any]", json.loads((_MODEL / "meta.json").read_bytes()))
    meta |= {"id": folder.name, "source": "say what went wrong, and where it was reported"}
    del meta["anchor"]
    paths = [path for path in _MODEL.rglob("*") if path.is_file() and "__pycache__" not in path.parts]
    files = {path.relative_to(_MODEL).as_posix(): path.read_text(encoding="utf-8") for path in paths}
    with fits(f"{folder}: "):
        PuzzleMeta.model_validate(meta)
    write_puzzle(folder, {**files, "meta.json": json.dumps(meta, indent=2) + "\n"})
    return load_puzzle(folder)
