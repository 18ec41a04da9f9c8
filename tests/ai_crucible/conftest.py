"""A puzzle to work on, and what must be there for the tests that open real boxes."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from ai_crucible.puzzle_box import CannotIsolate, probe

GOOD = "def total(n):\n    return n * (n + 1) // 2\n"


@pytest.fixture(scope="session")
def boxes() -> None:
    """Skips where this machine gives no box; the reason is bubblewrap's own."""
    try:
        asyncio.run(probe())
    except CannotIsolate as reason:
        pytest.skip(str(reason))


@pytest.fixture
def make_puzzle(tmp_path: Path) -> Callable[..., Path]:
    """Writes a puzzle folder: a sum to repair, with anything replaced, added or (by None) left out."""

    def make(name: str = "sum", **files: str | None) -> Path:
        folder = tmp_path / "puzzles" / name
        checks = [
            {"name": "n counts", "kind": "call", "target": "total:total", "cases": [{"args": [3], "expect": 6}]},
            {"name": "none", "kind": "call", "target": "total:total", "cases": [{"args": [0], "expect": 0}]},
        ]
        meta = {"id": name, "title": "Sum", "kind": "off-by-one", "source": "a test", "editable": ["total.py"]}
        content: dict[str, str | None] = {
            "meta.json": json.dumps(meta),
            "prompt.md": "Repair total.py",
            "work/total.py": "def total(n):\n    return sum(range(1, n))\n",
            "oracle/gold/total.py": GOOD,
            "oracle/checks.json": json.dumps({"checks": checks}),
            **files,
        }
        for path, text in content.items():
            if text is not None:
                (folder / path).parent.mkdir(parents=True, exist_ok=True)
                (folder / path).write_text(text)
        return folder

    return make
