"""Stances as CSV, one row a tracked stance; safe to open in a spreadsheet."""

from __future__ import annotations

import csv
import io

from crux.insight.timeline import shift_timeline
from crux.results import DebateResult

_COLUMNS = (
    *("debate", "step", "message", "persona", "question", "where", "stance", "position"),
    *("moved", "earned", "claim_ref"),
)


def stances_csv(result: DebateResult) -> str:
    """Return the table, with a head line (RFC 4180)."""
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(_COLUMNS)
    for point in shift_timeline(result):
        one, entry = point.stance, point.entry
        moved = ("yes", "yes" if entry.earned else "no", safe(entry.claim_ref)) if entry else ("no", "", "")
        told = (point.step, one.message, safe(one.persona), one.question, safe(point.where), one.stance)
        writer.writerow([result.debate_id, *told, safe(one.position), *moved])
    return text.getvalue()


def safe(text: str) -> str:
    """Return a text that no spreadsheet takes for a formula."""
    return f"'{text}" if text[:1] in ("=", "+", "-", "@", "\t", "\r") else text
