"""The methods: one answer, several of one model, councils of several kinds."""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import field, replace
from functools import partial
from statistics import fmean
from typing import TypeAlias

from assay.protocol import load
from assay.protocols.compare import BEHAVIOUR
from assay.protocols.compare.spending import PLAIN, SECONDS, Outlay, paid, unit_of
from assay.protocols.compare.tasks import Question, majority
from llm_runtime.errors import CallError
from llm_runtime.events import Emit
from llm_runtime.messages import CallLabel, Message, Reply, Request, Usage
from llm_runtime.prompts import Fence, load_prompt
from llm_runtime.structs import Struct
from llm_runtime.tasks import gather
from llm_runtime.wrappers.metered import Meter

MOST_SAMPLES, _MOST_ONCE = 256, 64
_MODEL = "openrouter/auto"
_SEEDS = 2**53
_TRIES = 3
#: How councils of other methods differ from the one that `ask` holds.
_FORMS = {"council-without-red-team": {"form": "prose", "ledger": "off"}, "routed": {"route": True}}
_BEST = re.compile(r"\bBEST\W{0,6}(\d{1,3})", re.IGNORECASE)


class Answered(Struct):
    """What a method answered.

    Args:
        text: the whole answer.
        answer: what of it is checked.
        samples: how many independent answers are behind it.
        agreed: how many of them gave this answer; 0 where they were not counted.
        abstained: how many of them refused, or gave no answer that can be read.
        distinct: how many of their texts differ.
        judge: what was wrong with the judge, where one had to choose and did not.
    """

    text: str
    answer: str
    samples: int = 1
    agreed: int = 0
    abstained: int = 0
    distinct: int = 1
    judge: str = ""


class Bench(Struct):
    """What the methods work with.

    Args:
        seed: of the run; the seeds of samples and councils derive from it.
        samples: of methods that draw some, where no council's spend sets them, at least 1.
        emit: hears which method is done.
        panel: models of a mixed panel's seats, and of the short answers of a routed council.
        against: what the council spent on this task, where one took part.
        exchange: what counts as spend where prices are not known.
        raters: of open questions.
    """

    seed: int
    samples: int
    emit: Emit = field(repr=False)
    panel: tuple[str, ...] = ()
    against: Outlay | Meter | None = None
    exchange: str = PLAIN
    raters: int = 0

    def seed_of(self, task: Question, what: str) -> int:
        """Derive a seed for one thing of one task, 0 to 2^53-1."""
        return int.from_bytes(hashlib.sha256(f"{self.seed}|{task.id}|{what}".encode()).digest()[:8]) % _SEEDS


async def single(task: Question, meter: Meter, bench: Bench) -> Answered:
    """Ask once; a call that fails is made again, as a council goes on without a seat."""
    for number in range(1, _TRIES):
        with suppress(CallError):
            return _of(task, await _sample(task, meter, bench, "single", number))
    return _of(task, await _sample(task, meter, bench, "single", _TRIES))


async def council(name: str, task: Question, meter: Meter, bench: Bench) -> Answered:
    """Hold the council that ``assay ask`` holds: with its red team or without, of one model or of a panel.

    Without a red team seats revise by each other's positions alone, in the form in prose: those of records would
    have nothing to answer.
    """

    async def generate(request: Request) -> Reply:
        if name == "council-without-red-team" and request.label.phase == "critique":
            text = load_prompt("assay.protocols.compare", "silent").render()
            return Reply(text, "", "", Usage(0, 0), cost=0, cost_source="free")
        # Councils of several methods on one task are told apart by what asks.
        label = request.label if name == "council" else replace(request.label, protocol=f"crucible.{name}")
        return await meter(replace(request, label=label))

    models = bench.panel if name in ("mixed-panel", "routed") else ()
    if BEHAVIOUR.before(4):
        from crucible import Crucible, EngineConfig

        config = EngineConfig(openrouter_api_key="", generate=generate, models=models)
        return _of(task, (await Crucible(config, seed=bench.seed_of(task, name)).run(task.asked)).final_response)
    form = _FORMS.get(name, {})
    hold = load("assay.protocols.crucible.council:hold")
    return _of(task, await hold(task.asked, generate, bench.seed, models=models, **form))


async def self_consistency(task: Question, meter: Meter, bench: Bench) -> Answered:
    """Draw independent samples; take the majority of a checkable answer, write one synthesis of an open one.

    Source: Wang et al. 2022, Self-Consistency Improves Chain of Thought Reasoning, arXiv:2203.11171.
    """
    texts = await _samples(task, meter, bench, closing=not task.marked)
    answers = [task.said(text) for text in texts]
    drawn = Answered(texts[0], answers[0], len(texts), 0, _abstained(answers), len(set(texts)))
    if task.marked:
        chosen = majority(answers, task.form)
        agreed = sum(task.form(answer) == task.form(answers[chosen]) for answer in answers if answer)
        return replace(drawn, text=texts[chosen], answer=answers[chosen], agreed=agreed)
    if len(texts) == 1:
        return replace(drawn, answer=texts[0])
    text = await _read_all(task, meter, bench, texts, "synthesis")
    return replace(drawn, text=text, answer=text)


async def best_of_n(task: Question, meter: Meter, bench: Bench) -> Answered:
    """Draw independent samples and have a judge choose one; where it does not, the first, which the report says."""
    drawn = await _samples(task, meter, bench, closing=True)
    texts = [text for text in drawn if task.said(text)] or [""]
    answered = Answered(texts[0], task.said(texts[0]), len(texts), 0, len(drawn) - len(texts), len({*drawn}))
    if len(texts) == 1:
        return answered
    try:
        judgment = await _read_all(task, meter, bench, texts, "best")
    except CallError as fault:
        if BEHAVIOUR.before(4):
            raise
        return replace(answered, judge=f"{type(fault).__name__}: {fault}"[:300])
    numbers = [int(number) for number in _BEST.findall(judgment)]
    if not numbers or not 1 <= numbers[-1] <= len(texts):
        return replace(answered, judge="it named no answer")
    return replace(answered, text=texts[numbers[-1] - 1], answer=task.said(texts[numbers[-1] - 1]))


async def self_correction(task: Question, meter: Meter, bench: Bench) -> Answered:
    """Answer, then have the same model look for what is wrong and answer anew, until the spend is used up."""
    text, rounds = await _sample(task, meter, bench, "single", 1), 1
    while _left(bench, meter, rounds) > 0 and rounds < MOST_SAMPLES:
        text, rounds = await _read_all(task, meter, bench, [text], "correct", rounds), rounds + 1
    return replace(_of(task, text), samples=rounds)


def _left(bench: Bench, meter: Meter, answered: int) -> int:
    if bench.against is None:
        return bench.samples - answered
    return more_samples(bench.against, meter, answered, closing=False, exchange=bench.exchange)


async def dearer(task: Question, meter: Meter, bench: Bench) -> Answered:
    """Do as self-consistency does, for the same spend, with the model in the seat ``dearer``."""

    async def generate(request: Request) -> Reply:
        label = replace(request.label, phase="dearer", round=int(request.label.phase != "sample"))
        return await meter(replace(request, label=label))

    return await self_consistency(task, Meter(generate), bench)


Method: TypeAlias = Callable[[Question, Meter, Bench], Awaitable[Answered]]
"""One way to answer a question: all that it asks goes through the meter."""
METHODS: dict[str, Method] = {
    "single": single,
    "self-consistency": self_consistency,
    "best-of-n": best_of_n,
    **{name: partial(council, name) for name in ("council", "council-without-red-team", "mixed-panel", "routed")},
    "self-correction": self_correction,
    "dearer": dearer,
}
"""A method joins by one function here. The council goes first: its spend is the measure of those that sample."""
USUAL = ("single", "self-consistency", "council")


def _of(task: Question, text: str) -> Answered:
    answer = task.said(text)
    return Answered(text, answer, abstained=_abstained([answer]))


def _abstained(answers: Sequence[str]) -> int:
    return sum(not answer for answer in answers)


async def _samples(task: Question, meter: Meter, bench: Bench, *, closing: bool) -> list[str]:
    """Draw samples until the spend comes as close as it can to the council's; those that fail are left out.

    They are drawn in waves, each half of what the spend so far says is still to be had: an estimate from the first
    sample alone would be off wherever lengths differ. Without a council as many as the bench says are drawn.

    Args:
        closing: whether one more call will read them all, out of the same spend.

    Raises:
        CallError: every one of them failed.
    """
    texts, meters, fault = list[str](), list[Meter](), None
    most = _MOST_ONCE if BEHAVIOUR.before(4) else MOST_SAMPLES
    most = most if bench.against else bench.samples + _TRIES
    while (drawn := len(meters)) < most:
        if bench.against is None:
            wanted = bench.samples - len(texts)
        elif texts and BEHAVIOUR.before(2):
            wanted = 0 if drawn > 1 else _planned(bench.against, meter, closing=closing) - 1
        elif texts:
            unit = unit_of([bench.against, meter], bench.exchange)
            spread = 0.0 if BEHAVIOUR.before(4) else _spread(meters, unit)
            wanted = more_samples(
                bench.against, meter, len(texts), closing=closing, exchange=bench.exchange, spread=spread
            )
        else:
            wanted = int(drawn < _TRIES)
        if wanted < 1:
            break
        meters += [Meter(meter) for _ in range(min(wanted, most - drawn))]
        wave = enumerate(meters[drawn:], drawn + 1)
        for text in await gather(_tried(task, one, bench, number) for number, one in wave):
            if isinstance(text, CallError):
                fault = text
            else:
                texts.append(text)
    if not texts:
        raise fault or CallError("no sample was drawn")
    return texts


def _planned(against: Outlay | Meter, one: Meter, *, closing: bool) -> int:
    """Return how many samples would come closest to another's spend, each taking what the first took."""
    unit = unit_of([against, one], PLAIN)
    budget, each = paid(against, unit), paid(one, unit)
    share = budget / each if each > 0 else 1.0
    if closing and each > 0:
        share = (share - 1) / (1 + one.output_tokens / max(one.tokens, 1))
    return min(max(round(share), 1), _MOST_ONCE)


async def _tried(task: Question, meter: Meter, bench: Bench, number: int) -> str | CallError:
    try:
        return await _sample(task, meter, bench, "sample", number)
    except CallError as fault:
        return fault


def _spread(meters: Sequence[Meter], unit: str) -> float:
    """Return the squared coefficient of variation of what samples take, as a lognormal has it, as lengths do.

    A few of them say little about the long ones, so a guess at the variance of their logarithms stands beside them.
    """
    logs = [math.log(spend) for one in meters if (spend := paid(one, unit)) > 0]
    mean = fmean(logs or [0.0])
    return math.expm1(min((sum((one - mean) ** 2 for one in logs) + 1.0) / max(len(logs), 1), 2.5))


def more_samples(
    against: Outlay | Meter, own: Meter, answered: int, *, closing: bool, exchange: str = PLAIN, spread: float = 0.0
) -> int:
    """Return how many samples to draw next so that the spend comes closest to another's; 0 where it is.

    Args:
        against: what the other method spent.
        own: what was spent so far.
        answered: samples so far, without those that failed.
        closing: whether one more call will read them all and write one more answer.
        exchange: what counts where prices are not known.
        spread: squared coefficient of variation of what one takes: the last is longer than most, for a long one is
            likelier to be the one that reaches the end.
    """
    unit = unit_of([against, own], exchange)
    budget, spent = paid(against, unit), paid(own, unit)
    if not answered or spent <= 0:
        # Without an answer, or where nothing costs anything that is known, one more would not tell.
        return 0
    each = spent / answered
    if closing:
        # It costs one answer more, and the reading of all of them.
        reading = own.output_tokens / max(paid(own, PLAIN if exchange == SECONDS else exchange), 1)
        budget -= each + spent * reading
        each *= 1 + reading
    left = (budget - spent) / each
    # Few samples say little about the length of the next ones.
    return 0 if left < (1 + spread) / 2 else max(min(int(left / 2), answered), 1)


async def _sample(task: Question, meter: Meter, bench: Bench, phase: str, number: int) -> str:
    label = CallLabel("compare", phase, seat=task.id, attempt=number)
    seed = bench.seed_of(task, f"{phase}|{number}")
    return (await meter(Request(_MODEL, (Message("user", task.asked),), label, seed=seed))).text


async def _read_all(
    task: Question, meter: Meter, bench: Bench, texts: Sequence[str], phase: str, number: int = 1
) -> str:
    label = CallLabel("compare", phase, seat=task.id, attempt=number)
    fence = Fence(bench.seed, label)
    answers = "\n\n".join(fence(f"ATTEMPT {n}", text) for n, text in enumerate(texts, 1))
    question = fence("QUESTION", task.asked if phase == "correct" else task.shown)
    prompt = load_prompt("assay.protocols.compare", phase).render(question=question, answers=answers)
    return (await meter(Request(_MODEL, (Message("user", prompt),), label))).text
