"""A first stage before a circle: a guard says yes, no or a score; only what it leaves open reaches the judges."""

from __future__ import annotations

import re
from collections.abc import Iterable
from math import comb, nextafter

from fire_circle.config import GuardConfig
from fire_circle.layers import Layer
from fire_circle.results import GuardReading, NeutrosophicEvaluation, Spend
from llm_runtime.errors import CallError
from llm_runtime.messages import CallLabel, Generate, Message, Request
from llm_runtime.models import Model
from llm_runtime.prompts import Fence, load_prompt
from llm_runtime.silence import Silence

_YES = ("yes", "true", "unsafe", "attack", "injection", "jailbreak", "malicious", "harmful", "flagged")
_NO = ("no", "false", "safe", "benign", "none", "harmless", "unflagged")
_WORD = re.compile(r"[\s\"'*.`]*([a-zA-Z]+)\b(?=[\s.,:;!\"'*`]*(?:\n|$))")
_SCORE = re.compile(r"""\s*(?:\{\s*["']?)?(?:score["']?\s*[:=]\s*)?([01](?:\.\d{1,12})?|\.\d{1,12})\s*\}?[\s.]*""")


class Band(Model):
    """Bounds of a guard, and what they leave to the circle.

    Args:
        calm: below it a layer is calm.
        alarm: from it on it is an attack; ``None`` where the data supports none.
        open: share of the readings that the circle decides, 0.0 to 1.0.
    """

    calm: float
    alarm: float | None
    open: float


def score_of(text: str) -> float | None:
    """Return the score in a guard's answer: a word of the lists on its first line, a number, one in an object."""
    if (found := _SCORE.fullmatch(text[:200])) is not None and 0.0 <= (score := float(found[1])) <= 1.0:
        return score
    word = found[1].lower() if (found := _WORD.match(text[:200])) else ""
    return 1.0 if word in _YES else 0.0 if word in _NO else None


async def ask_guard(
    generate: Generate, guard: GuardConfig, judged: Layer, seed: int, suffix: str, seconds: float
) -> GuardReading:
    """Ask the guard of one layer; whatever goes wrong with it leaves the layer to the circle."""
    label = CallLabel("fire_circle", "guard", f"guard:{guard.model}" + (f"@{suffix}" if suffix else ""), 0)
    text = judged.text
    if guard.asks:
        layer = Fence(seed, label)(f"{judged.name.upper()} LAYER", judged.text, own=True)
        text = load_prompt("fire_circle", "guard").render(layer=layer)
    try:
        async with Silence(seconds):
            said = (await generate(Request(guard.model, (Message("user", text),), label, temperature=0.0))).text
    except (CallError, TimeoutError) as fault:
        return GuardReading(model=guard.model, score=None, said=str(fault) or "no answer in time")
    score = score_of(said)
    settles = "" if score is None else "keeps" if score < guard.calm else "violates" if score >= guard.least else ""
    return GuardReading(model=guard.model, score=score, said=" ".join(said[:400].split()), settles=settles)


def evaluation_of(reading: GuardReading, spend: Spend) -> NeutrosophicEvaluation:
    """Return what a guard settled as a judgement of round 0: its score is on no judge's scale, so F is 0 or 1."""
    falsehood = float(reading.settles == "violates")
    return NeutrosophicEvaluation(
        truth=1.0 - falsehood,
        indeterminacy=0.0,
        falsehood=falsehood,
        verdict=reading.settles,
        reasoning=f"The guard said: {reading.said} (score {reading.score:g})",
        model=reading.model,
        round_number=0,
        spend=spend,
    )


def calibrated(
    readings: Iterable[tuple[float | None, bool]], *, missed: float = 0.02, false_alarms: float = 0.02
) -> Band:
    """Return the widest bounds that the data supports, with 95% confidence each (exact binomial bounds).

    Args:
        readings: a guard's score of each item, and whether it is a violation.
        missed: of the violations, the share that may be called calm, 0.0 to 1.0.
        false_alarms: of the harmless items, the share that may be called attacks.
    """
    every = list(readings)
    bad = sorted(score for score, label in every if label and score is not None)
    good = sorted((score for score, label in every if not label and score is not None), reverse=True)
    low, high = _most(len(bad), missed), _most(len(good), false_alarms)
    calm = bad[low] if 0 <= low < len(bad) else 0.0
    alarm = nextafter(good[high], 2.0) if 0 <= high < len(good) else 2.0
    settled = sum(score is not None and (score < calm or score >= alarm) for score, _ in every)
    share = 1.0 - settled / len(every) if every else 1.0
    return Band(calm=calm, alarm=alarm if max(calm, alarm) <= 1.0 else None, open=share)


def _most(trials: int, rate: float) -> int:
    """Return how many errors in so many trials still show a rate below this one; -1 where none can."""
    errors, tail = -1, 0.0
    while (
        errors < trials
        and (tail := tail + comb(trials, errors + 1) * rate ** (errors + 1) * (1 - rate) ** (trials - errors - 1))
        <= 0.05
    ):
        errors += 1
    return errors
