"""A first stage before a circle: a guard says yes, no or a score; only what it leaves open reaches the judges."""

from __future__ import annotations

import re

from fire_circle.behaviour import BEHAVIOUR
from fire_circle.config import GuardConfig
from fire_circle.layers import Layer
from fire_circle.results import GuardReading, NeutrosophicEvaluation, Spend
from llm_runtime.errors import CallError
from llm_runtime.messages import CallLabel, Generate, Message, Request
from llm_runtime.prompts import Fence, load_prompt
from llm_runtime.silence import Silence
from llm_runtime.toml import own_table

_READ = own_table("fire_circle", "data/guards.toml")
_LEVELS: dict[str, float] = _READ["levels"]
_FORMS = re.compile("|".join(_READ["forms"]), re.IGNORECASE)
_WORD = re.compile(r"([a-zA-Z]{2,12}+)[ \t.,:;!\"'*`]{0,9}+(?:\n|$)")
_SCORE = re.compile(r"""(?:\{ {0,9}["']?)?(?:score["']? {0,9}[:=] {0,9})?([01](?:\.\d{1,12})?|\.\d{1,12})[\s}.]{0,9}""")
_EDGES = " \t\r\n\"'*`"


def score_of(text: str) -> float | None:
    """Return the score in a guard's answer: a known form, a word of the lists on its first line, a number alone."""
    if (found := _FORMS.fullmatch(text.strip(_EDGES))) is not None and not BEHAVIOUR.before(5):
        return max(_LEVELS.get(word.lower(), 0.5) for word in found.groups() if word)
    text = text[:200].strip(_EDGES)
    if (found := _SCORE.fullmatch(text)) is not None and 0.0 <= (score := float(found[1])) <= 1.0:
        return score
    return _LEVELS.get(found[1].lower()) if (found := _WORD.match(text)) else None


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
    scores = {"truth": 1.0 - falsehood, "indeterminacy": 0.0, "falsehood": falsehood}
    said = f"The guard said: {reading.said} (score {reading.score:g})"
    told = {"verdict": reading.settles, "reasoning": said, "model": reading.model}
    return NeutrosophicEvaluation.model_validate({**scores, **told, "round_number": 0, "spend": spend})
