"""The methods: one call, a council with a red team, and as many samples as the council's spend buys."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field

from assay.protocols.compare.tasks import Question, final_answer, majority, same
from llm_runtime.events import Emit
from llm_runtime.messages import CallLabel, Message, Request
from llm_runtime.prompts import Fence, load_prompt
from llm_runtime.tasks import gather
from llm_runtime.wrappers.metered import Meter

METHODS = ("single", "self-consistency", "council")
MOST_SAMPLES = 64
_MODEL = "openrouter/auto"
_SEEDS = 2**53


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
class Bench:
    """What the methods work with.

    Args:
        seed: of the run; the seeds of samples and councils derive from it.
        samples: of self-consistency where no council's spend sets them, at least 1.
        emit: takes a council's steps.
    """

    seed: int
    samples: int
    emit: Emit = field(repr=False)

    def seed_of(self, task: Question, what: str) -> int:
        """Derive a seed for one thing of one task, 0 to 2^53-1."""
        digest = hashlib.sha256(f"{self.seed}|{task.id}|{what}".encode()).digest()
        return int.from_bytes(digest[:8]) % _SEEDS


async def single(task: Question, meter: Meter, bench: Bench) -> Answered:
    """Ask once."""
    text = await _sample(task, meter, bench, "single", 1)
    return Answered(text, final_answer(text))


async def council(task: Question, meter: Meter, bench: Bench) -> Answered:
    """Ask a council with a red team, as ``assay ask`` holds one."""
    from crucible import Crucible, EngineConfig

    config = EngineConfig(openrouter_api_key="", generate=meter)
    result = await Crucible(config, seed=bench.seed_of(task, "council")).run(task.asked)
    return Answered(result.final_response, final_answer(result.final_response))


async def self_consistency(task: Question, meter: Meter, bench: Bench, against: Meter | None) -> Answered:
    """Draw independent samples; take the majority of a checkable answer, write one synthesis of an open one.

    Source: Wang et al. 2022, Self-Consistency Improves Chain of Thought Reasoning, arXiv:2203.11171.

    Args:
        against: what the other method spent; the number of samples is such that the spend comes closest to it.
    """
    first = await _sample(task, meter, bench, "sample", 1)
    wanted = bench.samples if against is None else samples_for(against, meter, synthesis=not task.checkable)
    texts = [first, *await gather(_sample(task, meter, bench, "sample", n) for n in range(2, wanted + 1))]
    if task.checkable:
        answers = [final_answer(text) for text in texts]
        chosen = majority(answers)
        agreed = sum(same(answer) == same(answers[chosen]) for answer in answers)
        return Answered(texts[chosen], answers[chosen], len(texts), agreed)
    if len(texts) == 1:
        return Answered(texts[0], texts[0])
    text = await _synthesis(task, meter, bench, texts)
    return Answered(text, text, len(texts))


def samples_for(against: Meter, one: Meter, *, synthesis: bool) -> int:
    """Return how many samples come closest to another's spend, 1 to 64, one sample taking what ``one`` has counted.

    Spend is compared in dollars where both prices are known and above 0, else in tokens. A synthesis reads every
    sample and writes one more.
    """
    dollars = bool(against.cost) and bool(one.cost)
    budget, each = (against.cost or 0, one.cost or 0) if dollars else (against.tokens, one.tokens)
    if each <= 0:
        return 1
    share = budget / each
    if synthesis:
        # n samples cost n; the synthesis costs one more, and the reading of n answers besides.
        share = (share - 1) / (1 + one.output_tokens / max(one.tokens, 1))
    return min(max(round(share), 1), MOST_SAMPLES)


async def _sample(task: Question, meter: Meter, bench: Bench, phase: str, number: int) -> str:
    label = CallLabel("compare", phase, seat=task.id, attempt=number)
    seed = bench.seed_of(task, f"{phase}|{number}")
    return (await meter(Request(_MODEL, (Message("user", task.asked),), label, seed=seed))).text


async def _synthesis(task: Question, meter: Meter, bench: Bench, texts: Sequence[str]) -> str:
    label = CallLabel("compare", "synthesis", seat=task.id)
    fence = Fence(bench.seed, label)
    answers = "\n\n".join(fence(f"ATTEMPT {n}", text) for n, text in enumerate(texts, 1))
    prompt = load_prompt("assay.protocols.compare", "synthesis").render(
        question=fence("QUESTION", task.question), answers=answers
    )
    return (await meter(Request(_MODEL, (Message("user", prompt),), label))).text
