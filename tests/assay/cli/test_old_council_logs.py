"""A council that an older version recorded: its judge, its words and its roles are those of then."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

Assay = Any


async def test_a_log_of_before_replays_and_has_a_report(assay: Assay, tmp_path: Path) -> None:
    shutil.copy(Path(__file__).with_name("old_council.jsonl"), tmp_path / "old.jsonl")
    imported = await assay("runs", "import", "old.jsonl")
    assert imported.code == 0, imported.err
    replayed = await assay("runs", "replay", "latest", "-q")
    assert replayed.code == 0 and "with the result that was recorded" in replayed.out, replayed.err
    shown = await assay("runs", "show", "latest", "--out", "r.md")
    assert shown.code == 0 and "## Objections" not in (tmp_path / "r.md").read_text("utf-8")
