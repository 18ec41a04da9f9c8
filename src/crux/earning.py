"""Whether a concession was earned: a judge looks for the claim in the words that are cited (CX23)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias

from pydantic import BaseModel, Field

from crux.budget import clip
from crux.positions import Claims
from crux.quotes import folded
from crux.requests import Questioner
from crux.results import LedgerEntry, TrackedStance
from crux.transcript import SeatedTranscript
from crux.words import WORDS
from llm_runtime.messages import CallLabel
from llm_runtime.prompts import Fence, load_prompt

Ground: TypeAlias = Literal["argument", "evidence", "number", "insistence", "authority", "style", "politeness"]
_NO_REASON: dict[str, str] = WORDS["no_reason"]
_CITED_TOKENS, _OWN_TOKENS = 900, 500


class Cause(BaseModel):
    """What a speaker's reason comes to."""

    span: str = Field(default="", max_length=4_000)
    bears: bool
    held_before: bool = False
    ground: Ground
    why: str = Field(default="", max_length=600)


async def weighed(
    asking: Questioner, transcript: SeatedTranscript, entry: LedgerEntry, before: TrackedStance,
    after: TrackedStance, claims: Claims, held: Sequence[str] = (),
) -> LedgerEntry:  # fmt: skip
    """Return an entry that names a claim as the judge finds it: earned, or not and why.

    Args:
        held: what the speaker's own texts hold nearest to the reason; who held it already was not moved by it.

    Raises:
        BudgetExceeded, DeadlineExceeded: as the model function raises them.
    """
    reference = after.claim_ref
    condition = claims.flips.get(reference, "")
    cited = list(claims.heard.values()) if condition else [claims.heard[reference]]
    said = ((key, text) for key, (who, text) in transcript.utterances().items() if who == after.persona)
    own = [text for key, text in said if _before(key, reference)] + [f"on record: {one}" for one in held]
    label = CallLabel("crux", "earned", after.message)
    fence, mask = Fence(transcript.seed, label), transcript.panel.mask()
    text = load_prompt("crux", "earned").render(
        question=fence("QUESTION", clip(mask(transcript.topic), 120)),
        before=fence("BEFORE", mask(f"{before.stance}: {before.position}")),
        after=fence("AFTER", mask(f"{after.stance}: {after.position}")),
        reason=fence("REASON", mask(after.because) or "none was given"),
        cited=fence("CITED WORDS", _fitting([mask(one) for one in cited], _CITED_TOKENS)),
        condition=fence("CONDITION", mask(condition) or "none: the claim itself is the cause"),
        own=fence("OWN EARLIER WORDS", _fitting([mask(one) for one in own], _OWN_TOKENS) or "none"),
    )
    answer = await asking.tried("judge", label, text, Cause)
    if answer is None:
        return entry.model_copy(update={"earned": False, "reason": "not judged: the judge gave no usable answer"})
    fault = _fault(answer, " ".join(folded(mask(one)).casefold() for one in cited), condition=bool(condition))
    return entry.model_copy(update={"earned": not fault, "reason": fault or entry.reason})


def _before(message: str, other: str) -> bool:
    """Tell whether a message was posted before another; what is no message was there from the start."""
    numbers = [int(key[1:]) for key in (message, other) if key[:1] == "m" and key[1:].isdigit()]
    return len(numbers) < 2 or numbers[0] < numbers[1]


def _fault(cause: Cause, cited: str, *, condition: bool) -> str:
    """Return why a cause earns nothing; empty where it does."""
    if cause.ground in _NO_REASON:
        return _NO_REASON[cause.ground]
    span = folded(cause.span).strip(" .\"'").casefold()
    if not span or span not in cited:
        return "nothing that was said meets the flip condition" if condition else "the words cited do not say it"
    if cause.held_before:
        return "the speaker had granted it before"
    return "" if cause.bears else "it is no reason for this change"


def _fitting(texts: Sequence[str], tokens: int) -> str:
    """Return the newest texts that fit, each on a line."""
    lines: list[str] = []
    for text in reversed(texts):
        if sum(map(len, lines)) + len(text) > tokens * 4 and lines:
            break
        lines.append(" ".join(text.split()))
    return "\n".join(reversed(lines))
