"""The phrase check: politeness that models fall into and people do not (CX12)."""

from __future__ import annotations

import re
from collections.abc import Sequence

from crux.words import WORDS
from llm_runtime.structs import Struct

_MAX_CHARS = 20_000
_PRAISE, _MACHINE, _AGREEING = (
    re.compile(rf"\b(?:{'|'.join(WORDS['phrases'][name])})\b", re.IGNORECASE)
    for name in ("praise", "machine", "agreeing")
)


class PhraseReport(Struct):
    """What was found.

    Args:
        polite: phrases to be rid of, in order, each once.
        agreeing: the text says that it agrees or concedes.
    """

    polite: tuple[str, ...]
    agreeing: bool


def check_phrases(text: str, forbidden: Sequence[str] = ()) -> PhraseReport:
    """Look for praise, filler and machine talk, and for what a persona would never say.

    Agreement is not a fault of wording: whether it was earned is the ledger's business.

    Args:
        forbidden: phrases of the persona's own list, matched as they are, whatever the case.
    """
    text = text[:_MAX_CHARS]
    polite = [match[0].strip() for pattern in (_PRAISE, _MACHINE) for match in pattern.finditer(text)]
    low = text.casefold()
    polite += [phrase for phrase in forbidden if len(phrase) > 3 and phrase.casefold() in low]
    return PhraseReport(tuple(dict.fromkeys(polite)), bool(_AGREEING.search(text)))
