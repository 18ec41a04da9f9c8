"""The methods: one answer, several of one model, councils of several kinds; each one function."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from assay.protocols.compare import BEHAVIOUR
from assay.protocols.compare.tasks import Question, final_answer, majority, same
from llm_runtime.errors import CallError
from llm_runtime.events import Emit
from llm_runtime.messages import CallLabel, Generate, Message, Reply, Request, Usage
from llm_runtime.prompts import Fence, load_prompt
from llm_runtime.tasks import gather
from llm_runtime.wrappers.metered import Meter

MOST_SAMPLES = 64
_MODEL = "openrouter/auto"
_SEEDS = 2**53
_TRIES = 3
_BEST = re.compile(r"\bBEST\W{0,6}(\d{1,3})", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Answered:
    """What a method answered.

    Args:
        text: the whole answer.
        answer: what of it is checked.
        samples: how many independent answers are behind it.
        agreed: how many of them gave this answer; 0 where they were not counted.
    """

    text: str
    answer: str
    samples: int = 1
    agreed: int = 0


@dataclass(frozen=True, slots=True)
class Spent:
    """What another method took. ``cost`` is micro-dollars, ``None`` where a price is not known."""

    tokens: int
    cost: int | None


@dataclass(frozen=True, slots=True)
class Bench:
    """What the methods work with.

    Args:
        seed: of the run; the seeds of samples and councils derive from it.
        samples: of methods that draw some, where no council's spend sets them, at least 1.
        emit: takes a council's steps.
        panel: models of a mixed panel's seats.
        against: what the council spent on this task, where one took part.
    """

    seed: int
    samples: int
    emit: Emit = field(repr=False)
    panel: tuple[str, ...] = ()
    against: Spent | Meter | None = None

    def seed_of(self, task: Question, what: str) -> int:
        """Derive a seed for one thing of one task, 0 to 2^53-1."""
        digest = hashlib.sha256(f"{self.seed}|{task.id}|{what}".encode()).digest()
        return int.from_bytes(digest[:8]) % _SEEDS


async def single(task: Question, meter: Meter, bench: Bench) -> Answered:
    """Ask once; a call that fails is made again, as a council goes on without a seat."""
    for number in range(1, _TRIES):
        try:
            return _of(await _sample(task, meter, bench, "single", number))
        except CallError:
            continue
    return _of(await _sample(task, meter, bench, "single", _TRIES))


async def council(task: Question, meter: Meter, bench: Bench) -> Answered:
    """Ask a council with a red team."""
    return await _council(task, meter, bench, "council")


async def council_without_red_team(task: Question, meter: Meter, bench: Bench) -> Answered:
    """Ask a council whose critic is silent: seats revise by each other's positions alone."""

    async def generate(request: Request) -> Reply:
        if request.label.phase == "critique":
            text = load_prompt("assay.protocols.compare", "silent").render()
            return Reply(text, "", "", Usage(0, 0), cost=0, cost_source="free")
        return await meter(request)

    return await _council(task, generate, bench, "council-without-red-team")


async def mixed_panel(task: Question, meter: Meter, bench: Bench) -> Answered:
    """Ask a council whose seats take different models in turn."""
    return await _council(task, meter, bench, "mixed-panel", bench.panel)


async def self_consistency(task: Question, meter: Meter, bench: Bench) -> Answered:
    """Draw independent samples; take the majority of a checkable answer, write one synthesis of an open one.

    Source: Wang et al. 2022, Self-Consistency Improves Chain of Thought Reasoning, arXiv:2203.11171.
    """
    texts = await _samples(task, meter, bench, closing=not task.checkable)
    if task.checkable:
        answers = [final_answer(text) for text in texts]
        chosen = majority(answers)
        agreed = sum(same(answer) == same(answers[chosen]) for answer in answers)
        return Answered(texts[chosen], answers[chosen], len(texts), agreed)
    if len(texts) == 1:
        return Answered(texts[0], texts[0])
    text = await _read_all(task, meter, bench, texts, "synthesis")
    return Answered(text, text, len(texts))


async def best_of_n(task: Question, meter: Meter, bench: Bench) -> Answered:
    """Draw independent samples and have a judge choose one; without a choice that can be read, the first."""
    texts = [text for text in await _samples(task, meter, bench, closing=True) if final_answer(text)] or [""]
    if len(texts) == 1:
        return _of(texts[0])
    judgment = await _read_all(task, meter, bench, texts, "best")
    numbers = [int(number) for number in _BEST.findall(judgment)]
    chosen = numbers[-1] - 1 if numbers and 1 <= numbers[-1] <= len(texts) else 0
    return Answered(texts[chosen], final_answer(texts[chosen]), len(texts))


Method: TypeAlias = Callable[[Question, Meter, Bench], Awaitable[Answered]]
"""One way to answer a question: all that it asks goes through the meter."""
METHODS: dict[str, Method] = {
    "single": single,
    "self-consistency": self_consistency,
    "best-of-n": best_of_n,
    "council": council,
    "council-without-red-team": council_without_red_team,
    "mixed-panel": mixed_panel,
}
"""A method joins by one function here. The council goes first: its spend is the measure of those that sample."""
USUAL = ("single", "self-consistency", "council")


def _of(text: str) -> Answered:
    return Answered(text, final_answer(text))


async def _council(
    task: Question, generate: Generate, bench: Bench, name: str, models: tuple[str, ...] = ()
) -> Answered:
    from crucible import Crucible, EngineConfig

    async def labelled(request: Request) -> Reply:
        # Councils of several methods on one task are told apart by what asks.
        label = request.label if name == "council" else replace(request.label, protocol=f"crucible.{name}")
        return await generate(replace(request, label=label))

    config = EngineConfig(openrouter_api_key="", generate=labelled, models=models)
    result = await Crucible(config, seed=bench.seed_of(task, name)).run(task.asked)
    return _of(result.final_response)


async def _samples(task: Question, meter: Meter, bench: Bench, *, closing: bool) -> list[str]:
    """Draw samples until the spend comes as close as it can to the council's; those that fail are left out.

    They are drawn in waves, each half of what the spend so far says is still to be had: an estimate from the first
    sample alone would be off wherever lengths differ. Without a council as many as the bench says are drawn.

    Args:
        closing: whether one more call will read them all, out of the same spend.

    Raises:
        CallError: every one of them failed.
    """
    texts, drawn, fault = list[str](), 0, None
    most = MOST_SAMPLES if bench.against else bench.samples + _TRIES
    while drawn < most:
        if bench.against is None:
            wanted = bench.samples - len(texts)
        elif texts and BEHAVIOUR.before(2):
            wanted = 0 if drawn > 1 else _planned(bench.against, meter, closing=closing) - 1
        elif texts:
            wanted = more_samples(bench.against, meter, len(texts), closing=closing)
        else:
            wanted = int(drawn < _TRIES)
        wave = range(drawn + 1, drawn + min(wanted, most - drawn) + 1)
        if not wave:
            break
        drawn += len(wave)
        for text in await gather(_tried(task, meter, bench, number) for number in wave):
            if isinstance(text, CallError):
                fault = text
            else:
                texts.append(text)
    if not texts:
        raise fault or CallError("no sample was drawn")
    return texts


def _planned(against: Spent | Meter, one: Meter, *, closing: bool) -> int:
    """Return how many samples would come closest to another's spend, each taking what the first took."""
    dollars = bool(against.cost) and bool(one.cost)
    budget, each = (against.cost or 0, one.cost or 0) if dollars else (against.tokens, one.tokens)
    share = budget / each if each > 0 else 1.0
    if closing and each > 0:
        share = (share - 1) / (1 + one.output_tokens / max(one.tokens, 1))
    return min(max(round(share), 1), MOST_SAMPLES)


async def _tried(task: Question, meter: Meter, bench: Bench, number: int) -> str | CallError:
    try:
        return await _sample(task, meter, bench, "sample", number)
    except CallError as fault:
        return fault


def more_samples(against: Spent | Meter, own: Meter, answered: int, *, closing: bool) -> int:
    """Return how many samples to draw next so that the spend comes closest to another's; 0 where it is.

    Spend is compared in dollars where both prices are known and above 0, else in tokens.

    Args:
        against: what the other method spent.
        own: what was spent so far.
        answered: samples so far, without those that failed.
        closing: whether one more call will read them all and write one more answer.
    """
    dollars = bool(against.cost) and bool(own.cost)
    budget, spent = (against.cost or 0, own.cost or 0) if dollars else (against.tokens, own.tokens)
    if not answered or spent <= 0:
        # Without an answer, or where nothing costs anything that is known, one more would not tell.
        return 0
    each = spent / answered
    if closing:
        # It costs one answer more, and the reading of all of them.
        reading = own.output_tokens / max(own.tokens, 1)
        budget -= each + spent * reading
        each *= 1 + reading
    left = (budget - spent) / each
    # Few samples say little about the length of the next ones.
    return 0 if left < 0.5 else max(min(int(left / 2), answered), 1)


async def _sample(task: Question, meter: Meter, bench: Bench, phase: str, number: int) -> str:
    label = CallLabel("compare", phase, seat=task.id, attempt=number)
    seed = bench.seed_of(task, f"{phase}|{number}")
    return (await meter(Request(_MODEL, (Message("user", task.asked),), label, seed=seed))).text


async def _read_all(task: Question, meter: Meter, bench: Bench, texts: Sequence[str], phase: str) -> str:
    label = CallLabel("compare", phase, seat=task.id)
    fence = Fence(bench.seed, label)
    answers = "\n\n".join(fence(f"ATTEMPT {n}", text) for n, text in enumerate(texts, 1))
    prompt = load_prompt("assay.protocols.compare", phase).render(
        question=fence("QUESTION", task.question), answers=answers
    )
    return (await meter(Request(_MODEL, (Message("user", prompt),), label))).text
