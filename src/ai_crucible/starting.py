"""A small puzzle to start from."""

from __future__ import annotations

import json
from pathlib import Path

from ai_crucible.importing import write_puzzle
from ai_crucible.puzzle_loader import load_puzzle
from ai_crucible.types import Puzzle


def new(folder: Path) -> Puzzle:
    """Write a small puzzle that passes its check, to start from. Its folder's name is its id.

    Raises:
        ConfigurationError: the folder exists, or its name is no id.
    """
    meta = {
        "id": folder.name,
        "title": "Repair a sum",
        "kind": "off-by-one",
        "source": "say what went wrong, and where it was reported",
        "editable": ["total.py"],
    }
    case = {"kind": "call", "target": "total:total"}
    checks = [
        {"name": "n counts", **case, "cases": [{"args": [3], "expect": 6}]},
        {"name": "nothing to add", **case, "cases": [{"args": [0], "expect": 0}]},
    ]
    write_puzzle(
        folder,
        {
            "meta.json": json.dumps(meta, indent=2) + "\n",
            "prompt.md": "`total(n)` in `total.py` is to return the sum of 1 to n. It leaves n out. Repair it.\n",
            "work/total.py": "def total(n):\n    return sum(range(1, n))\n",
            "oracle/gold/total.py": "def total(n):\n    return sum(range(1, n + 1))\n",
            "oracle/checks.json": json.dumps({"checks": checks}, indent=2) + "\n",
        },
    )
    return load_puzzle(folder)
