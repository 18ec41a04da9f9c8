"""What a council is told of the one that it goes on from: question, answer, what became of objections."""

from __future__ import annotations

from crucible.ledger import Ledger, headline

_MOST = 40_000


def earlier_council(query: str, answer: str, ledger: Ledger | None = None, before: str = "") -> str:
    """Return an earlier council as the text that :meth:`crucible.Council.run` takes as ``earlier``.

    Args:
        query: what it was asked.
        answer: what it answered.
        ledger: of its objections; ``None`` where none was kept.
        before: what it was itself told of an earlier one.

    Returns:
        At most 40,000 characters; what is longest ago is cut.
    """
    parts = [f"Question:\n{query}", f"Answer:\n{answer}", "" if ledger is None else _objections(ledger)]
    if before:
        parts.append(f"Before that:\n{before}")
    return "\n\n".join(part for part in parts if part)[:_MOST]


def _objections(ledger: Ledger) -> str:
    lines = [
        f"- {one.id}, {one.outcome}: {' '.join(one.text.words.split())[:400]}"
        + (f" Reply: {' '.join(one.reply.words.split())[:300]}" if one.reply else "")
        for one in ledger.objections
    ]
    return "\n".join([f"Objections: {headline(ledger)}.", *lines])
