"""What the answer does with each attacked claim: by code where words decide, by one call where meaning does.

The call proposes. Words that it gives must stand in the answer; a claim whose sentence stands there is restated,
whatever the call says; and nothing is absent that most of its words are there for (CR27).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import pairwise

from crucible.asking import Asker, Wanted
from crucible.behaviour import BEHAVIOUR, first_records
from crucible.ledger import Effect
from crucible.objections import RaisedObjection
from crucible.passages import ANSWER, Passage, Span, locate
from crucible.records import EffectsRecord, Told, wanting
from crucible.refusing import runs
from llm_runtime.errors import BudgetExceeded, CallError, DeadlineExceeded, StructuredOutputError
from llm_runtime.messages import CallLabel, Message
from llm_runtime.normal import normal
from llm_runtime.prompts import Fence, load_prompt

LABEL = CallLabel("crucible", "effects")
_END = re.compile(r"(?<=[.!?。！？])[\s\"'”’)\]]+|(?<=[。！？])|\n+")
#: Of a claim's runs of characters, the share from which on a sentence is about it.
_ABOUT = 0.6
_RUN = 4


async def effects(
    asker: Asker, models: Sequence[Sequence[str]], raised: Iterable[RaisedObjection], answer: str, seed: int
) -> tuple[dict[str, tuple[Effect, Span | None]], str]:
    """Return what an answer does with the claim of each objection, and a note on what could not be found out."""
    found: dict[str, tuple[Effect, Span | None]] = {}
    passage, asked = Passage(ANSWER, answer), list[RaisedObjection]()
    for one in raised:
        span = _sentence(one.about, passage)
        if span is not None:
            found[one.id] = "restated", span
        else:
            asked.append(one)
    if not asked:
        return found, ""
    told, note = dict[str, Told](), ""
    try:
        await asker.record(_wanted(asked, answer, seed, told), LABEL, models)
    except (CallError, StructuredOutputError, BudgetExceeded, DeadlineExceeded) as fault:
        note = f"What the answer does with the claims was not looked at: {fault}"
        if first_records():
            told.clear()
    for one in asked:
        found[one.id] = _shown(one.about, told.get(one.id), passage)
    return found, note


def _wanted(asked: Sequence[RaisedObjection], answer: str, seed: int, told: dict[str, Told]) -> Wanted[EffectsRecord]:
    """Ask for an entry for each; ``told`` gathers them, for some models give one at a time."""
    fence = Fence(seed, LABEL)
    claims = "\n\n".join(fence(f"CLAIM {one.id}", one.about) for one in asked)
    whole = fence("ANSWER", answer)
    task = load_prompt("crucible", "effects").render(claims=claims, answer=whole)

    def complete(reading: EffectsRecord) -> str | None:
        if first_records():
            told.clear()
        told.update((one.id.strip().upper(), one) for one in reading.claims)
        missing = [one.id for one in asked if one.id not in told]
        return f"there is no entry for {', '.join(missing)}" if missing else None

    kind = wanting(EffectsRecord, "claims", len(asked))
    return Wanted(kind, lambda bound: [Message("user", task)], complete, shown=f"{claims}\n{whole}")


def _shown(claim: str, told: Told | None, passage: Passage) -> tuple[Effect, Span | None]:
    """Return what was told, as far as the words of the answer bear it out."""
    if told is None or told.does == "unclear":
        return "unclear", None
    span = locate(told.words, passage)
    if told.does == "absent":
        near = _nearest(claim, passage)
        return ("unclear" if near else "absent"), near
    unclear = span is None or (told.does in ("weakened", "changed") and _labelled(claim, passage))
    return ("unclear" if unclear else told.does), span


def _labelled(claim: str, passage: Passage) -> bool:
    """Tell whether a claim stands to the letter behind a label, as in "Decision: ...": it is no less for that."""
    parts = (normal(passage.text[start:end]).text.rpartition(_bare(claim)) for start, end in _sentences(passage))
    labels = (before.rstrip(" \"'-([") for before, found, after in parts if found and not _bare(after))
    return not BEHAVIOUR.before(17) and any(label.endswith(":") for label in labels)


def _sentences(passage: Passage) -> list[tuple[int, int]]:
    cuts = [0, *(end.end() for end in _END.finditer(passage.text)), len(passage.text)]
    return [(start, end) for start, end in pairwise(cuts) if passage.text[start:end].strip()]


def _sentence(claim: str, passage: Passage) -> Span | None:
    """Find the sentences of a claim in the answer, where all of them stand there; return the place of the first."""
    said = {_bare(passage.text[start:end]): (start, end) for start, end in reversed(_sentences(passage))}
    whole = [bare for start, end in _sentences(Passage("", claim)) if (bare := _bare(claim[start:end]))]
    return passage.span(*said[whole[0]], exact=False) if whole and all(each in said for each in whole) else None


def _nearest(claim: str, passage: Passage) -> Span | None:
    """Find a sentence that shares most of the claim's runs of characters."""
    wanted, text = runs(_bare(claim), _RUN), passage.text
    spans = _sentences(passage) if wanted else ()
    about = (one for one in spans if len(wanted & runs(_bare(text[slice(*one)]), _RUN)) >= _ABOUT * len(wanted))
    return next((passage.span(*one, exact=False) for one in about), None)


def _bare(text: str) -> str:
    return normal(text).text.strip(" \"'.,;:!?-#>()[]。！？")
