"""Answers that no comparison of words can check: programs by their tests in a box, texts by a reader."""

from __future__ import annotations

import hashlib
import re
from dataclasses import replace
from typing import Literal, TypeVar

from pydantic import BaseModel

from assay.protocols.compare.tasks import Question
from llm_runtime.errors import CallError, StructuredOutputError
from llm_runtime.messages import CallLabel, Generate, Message, Request
from llm_runtime.prompts import Fence, load_prompt
from llm_runtime.rewording import reworded
from llm_runtime.structured import ask
from llm_runtime.tasks import gather

_MODEL = "openrouter/auto"
_SECONDS = 20.0
_FENCED = re.compile(r"^```[^\n`]*\n(.*?)^```", re.DOTALL | re.MULTILINE)


class Sameness(BaseModel):
    """What a reader says of two texts."""

    differs: str = ""
    same: bool


class Preference(BaseModel):
    """Which of two answers a rater prefers; 0 is neither."""

    reason: str = ""
    better: Literal[0, 1, 2]


Said = TypeVar("Said", bound=BaseModel)


async def graded(task: Question, answer: str, generate: Generate, seed: int) -> tuple[bool | None, str]:
    """Return whether an answer is right, and what was wrong with a judge that had to say; no method pays for it.

    Raises:
        ConfigurationError: programs cannot be tried here.
    """
    if not answer or task.scorer not in ("code", "judge"):
        return task.right(answer) if answer or task.scorer not in ("code", "judge") else False, ""
    if task.scorer == "code":
        return await _passes(answer, task.wanted, seed), ""
    try:
        found = [await _same(task, (answer, one), generate, seed) for one in task.wanted]
    except (CallError, StructuredOutputError) as fault:
        return False, f"{type(fault).__name__}: {fault}"[:300]
    return any(found), ""


async def _same(task: Question, texts: tuple[str, str], generate: Generate, seed: int) -> bool:
    """Ask twice, in either order, and believe what is said both times: who prefers a place says nothing."""
    label = CallLabel("compare", "grade", seat=task.id)
    for attempt, ordered in ((1, texts), (3, texts[::-1])):
        if not (await _said(task, ordered, replace(label, attempt=attempt), Sameness, generate, seed)).same:
            return False
    return True


async def rated(
    task: Question, texts: tuple[str, str], pair: str, raters: int, generate: Generate, seed: int
) -> list[int]:
    """Return what each rater says of two answers to an open question: 1 where the first is better, -1, or 0.

    Raters are told nothing of who wrote what, and asked twice, in either order. Who says no answer has a worse one.
    """

    async def rate(number: int) -> int:
        label, found = CallLabel("compare", f"rater{number}", seat=f"{task.id}:{pair}"), set[int]()
        for attempt, ordered, first in ((1, texts, 1), (3, texts[::-1], 2)):
            said = await _said(task, ordered, replace(label, attempt=attempt), Preference, generate, seed)
            found.add(0 if not said.better else 1 if said.better == first else -1)
        return found.pop() if len(found) == 1 else 0

    if all(texts):
        return list(await gather(map(rate, range(1, raters + 1))))
    return [bool(texts[0]) - bool(texts[1])] * raters


async def _said(
    task: Question, texts: tuple[str, ...], label: CallLabel, kind: type[Said], generate: Generate, seed: int
) -> Said:
    fence = Fence(seed, label)
    answers = "\n\n".join(fence(f"ANSWER {number}", text) for number, text in enumerate(texts, 1))
    prompt = load_prompt("assay.protocols.compare", "grade" if kind is Sameness else "prefer")
    prompt = prompt.render(question=fence("QUESTION", task.question), answers=answers)
    return (await ask(generate, Request(_MODEL, (Message("user", prompt),), label), kind, shown=answers)).value


async def _passes(answer: str, tests: tuple[str, ...], seed: int) -> bool:
    """Run the last fenced program of an answer with its tests, without a network and without files."""
    from sandbox import NoIsolation, SandboxError, open_box

    program = (_FENCED.findall(answer) or [answer])[-1]
    # A program that ends before its tests has passed none: they say at last what it cannot know.
    word = hashlib.sha256(f"{seed}|{program}".encode()).hexdigest()
    whole = "\n".join((program, *tests, f"print('{word}')"))
    with reworded("the scorer code needs a box", NoIsolation):
        box = await open_box()
    try:
        done = await box.run(["python3", "-I", "-"], stdin=whole.encode(), seconds=_SECONDS)
    except SandboxError:
        return False
    finally:
        await box.close()
    return done.code == 0 and done.stdout.decode("utf-8", "replace").rstrip().endswith(word)
