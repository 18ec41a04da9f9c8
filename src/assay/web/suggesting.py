"""Which kind of run suits what was typed: fixed rules out of the descriptions, and the reason in words."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from assay.protocol import Opening, RunType
from assay.web.forms import forms

_LONGEST = 4_000
"""Characters of a text that the rules look at."""


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A kind of run for a text, and what in the text speaks for it."""

    kind: str
    why: str


def openings() -> Mapping[str, tuple[RunType, Opening]]:
    """Return the kinds of run that a text can begin, by name."""
    return {run.name: (run, run.opening) for run in forms() if run.opening}


def suggest(text: str) -> Suggestion | None:
    """Return the kind of run whose signs the text shows most of; ``None`` where it shows none.

    Of two with as many signs the more special one wins: the last in the order of the protocols.
    """
    text, best, most = text[:_LONGEST], None, 0
    for name, (_, opening) in openings().items():
        shown = [why for pattern, why in opening.signs if re.search(pattern, text, re.IGNORECASE | re.DOTALL)]
        if shown and len(shown) >= most:
            best, most = Suggestion(name, ", and ".join(shown)), len(shown)
    return best
