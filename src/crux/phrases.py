"""The phrase check: politeness that models fall into and people do not (CX12)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

_MAX_CHARS = 20_000
# Each pattern is linear: literals and bounded alternatives, no nested repetition.
_PRAISE = re.compile(
    r"\b(?:(?:great|good|excellent|fair|valid|fantastic|thoughtful|important|interesting) "
    r"(?:point|question|insight)"
    r"|well[ -]said|well put|raises? (?:a|an|some|many) (?:very )?(?:good|great|valid|fair|important|excellent) "
    r"|valid concerns?|couldn['’]t have said it better|I (?:really |deeply |truly )?appreciate (?:your|that|the)"
    r"|thank you for|thanks for (?:sharing|raising|your)|with all due respect"
    r"|I (?:completely |totally )?understand (?:your|where you)|I hear you)\b",
    re.IGNORECASE,
)
_AGREEING = re.compile(
    r"\b(?:I (?:completely |totally |fully |wholeheartedly |absolutely |entirely |do )?(?:agree|concur)\b"
    r"(?! (?:with )?(?:nothing|that .{0,20}\bnot\b))|you['’]?(?: are|re) "
    r"(?:absolutely |completely |quite |totally )?right"
    r"|I (?:stand corrected|concede|was wrong)|you(?:['’]ve| have) (?:convinced|persuaded) me"
    r"|couldn['’]t agree more|we can all agree|I think we agree|now agree)\b",
    re.IGNORECASE,
)
_MACHINE = re.compile(
    r"\b(?:as an? (?:AI|language model|artificial)|I (?:don['’]t|do not) have personal (?:opinions|beliefs)"
    r"|nuanced (?:topic|issue|question)|multifaceted|it['’]s important to (?:note|remember|acknowledge)"
    r"|at the end of the day|delve|rich tapestry|both sides have merit)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class PhraseReport:
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
