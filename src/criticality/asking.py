"""Every question to a model: its label, its model by role, and the fence around what it reads."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any, TypeAlias, TypeVar

from pydantic import BaseModel, ValidationError, create_model, model_validator

from criticality.budget import ContextLimits, Spare, fit
from criticality.config import Models
from llm_runtime import structured
from llm_runtime.messages import CallLabel, Generate, Message, Request
from llm_runtime.prompts import Fence, load_prompt

T = TypeVar("T", bound=BaseModel)
P = TypeVar("P")
Role: TypeAlias = str
"""``architect``, ``auditor``, ``structurer``, ``worker``, ``fallback1`` or ``fallback2``."""
Note: TypeAlias = tuple[str, str]
"""A part of an answer that was left out, in words, and why."""
Sieve: TypeAlias = Callable[[T], tuple[T, list[Note]]]

#: Tokens of an answer at most, by role.
MAX_OUTPUT = {
    "worker": 4_000, "auditor": 8_000, "structurer": 16_000, "architect": 32_000, "fallback1": 16_000,
    "fallback2": 32_000,
}  # fmt: skip


def sieved(
    parts: Iterable[P], fault: Callable[[P], str | None], name: Callable[[P], str]
) -> tuple[list[P], list[Note]]:
    """Return the parts without a fault of their own, and a note of each of the others."""
    looked = [(part, fault(part)) for part in parts]
    return [part for part, why in looked if not why], [(name(part), why) for part, why in looked if why]


class Question:
    """One call before it is made: where it stands, and a fence that fits it.

    Args:
        phase: the step, as in the specification: ``"lattice"``.
        item: what it is about, unique in the phase and round: a module, a function.
        role: who is asked.
        round: how often the phase was entered, from 1.
        attempt: from 1.
    """

    def __init__(self, seed: int, phase: str, item: str, role: Role, round: int = 1, attempt: int = 1) -> None:
        self.role = role
        self.label = CallLabel("criticality", phase, f"{item}:{role}", round, attempt)
        self._seed = seed
        self._fence = Fence(seed, self.label)

    def fence(self, name: str, text: str) -> str:
        """Material that is read and not obeyed; nothing where there is none."""
        return self._fence(name, text) if text.strip() else ""

    @property
    def sampling_seed(self) -> int:
        """A seed of its own for each question: a retry is a fresh try."""
        import hashlib

        return int.from_bytes(hashlib.sha256(f"{self._seed}|{self.label}".encode()).digest()[:4], "big") >> 1


class Asking:
    """Asks models by role.

    Args:
        generate: the model.
        models: which model each role is.
        seed: the project's; nonces and sampling seeds derive from it.
        limits: tokens that each tier's prompts may hold.
    """

    def __init__(self, generate: Generate, models: Models, seed: int, limits: ContextLimits | None = None) -> None:
        self._generate, self._models, self.seed = generate, models, seed
        self._limits = limits or ContextLimits()

    def question(self, phase: str, item: str, role: Role, round: int = 1, attempt: int = 1) -> Question:
        """Make a question that stands at this place."""
        return Question(self.seed, phase, item, role, round, attempt)

    async def text(self, question: Question, prompt: str, *, spare: Sequence[Spare] = (), **values: str) -> str:
        """Ask for free text; ``spare`` may be left out of a prompt that is too long.

        Raises:
            CallError: the call failed.
            ContextOverflow: no tier holds the prompt.
        """
        return (await self._generate(self._request(question, prompt, values, spare))).text

    async def data(
        self, question: Question, model: type[T], prompt: str, check: Callable[[T], str | None] | None = None,
        **values: str,
    ) -> T:  # fmt: skip
        """Ask for data; what does not fit is asked for again, twice at most, with what is wrong.

        Raises:
            StructuredOutputError: it does not fit then either.
            CallError: a call failed.
            ContextOverflow: no tier holds the prompt.
        """
        request = self._request(question, prompt, values, ())
        return (await structured.ask(self._generate, request, model, reasks=2, check=check)).value

    async def parts(
        self, question: Question, model: type[T], prompt: str, fault: Callable[[T], str | None],
        sieve: Sieve[T], **values: str,
    ) -> tuple[T, list[Note]]:  # fmt: skip
        """Ask for data of parts that stand by themselves; what schema or lint refuses twice is left out, with a note.

        Args:
            sieve: returns an answer without the parts that have a fault of their own, and a note of each.

        Raises:
            StructuredOutputError, CallError, ContextOverflow: as :meth:`data`.
        """
        request, texts, lost = self._request(question, prompt, values, ()), list[str](), list[Note]()
        shown = "\n".join(message.content for message in request.messages)

        def read(text: str) -> tuple[T, bool]:
            texts.append(text)
            lost.clear()
            return structured.parse(text, model if len(texts) == 1 else _lenient(model, lost), shown=shown)

        def check(answer: T) -> str | None:
            return fault(answer if len(texts) == 1 else sieve(answer)[0])

        asked = await structured.ask(self._generate, request, model, reasks=2, check=check, read=read)
        answer, notes = sieve(asked.value)
        return answer, [*lost, *notes]

    def _request(self, question: Question, prompt: str, values: Mapping[str, str], spare: Sequence[Spare]) -> Request:
        fitted = fit(question.role, values, lambda remaining: _rendered(prompt, remaining), self._limits, spare)
        return Request(
            model=self._models.of(fitted.role),
            messages=(Message("user", fitted.text),),
            label=question.label,
            max_tokens=MAX_OUTPUT[fitted.role],
            seed=question.sampling_seed,
        )


def _lenient(model: type[T], lost: list[Note]) -> type[T]:
    """Return the model of an answer without those items of its lists whose form is wrong, which it notes."""

    def taken(cls: type[T], data: Any, handler: Callable[[Any], T]) -> T:
        data = copy.deepcopy(data)
        while True:
            try:
                return handler(data)
            except ValidationError as fault:
                lost.append(_without(data, fault))

    taking: Any = model_validator(mode="wrap")(taken)
    return create_model(model.__name__, __base__=model, __validators__={"taken": taking})


def _without(data: Any, fault: ValidationError) -> Note:
    """Take the innermost object out of the list in which the first fault is, or another item; return its note."""
    first = fault.errors(include_url=False, include_input=False)[0]
    place, words = None, list[str]()
    with suppress(LookupError, TypeError):  # what lacks stands nowhere
        for step in (*first["loc"], *([-1] if first["type"] == "too_long" else [])):
            if isinstance(step, int) and (place is None or isinstance(data[step], dict)):
                place, one, named = (data, step), data[step], isinstance(data[step], dict)
                words += [str(one.get("id") or one.get("name") or step) if named else str(one)[:80]]
            data = data[step]
    if place is None:
        raise fault
    del place[0][place[1]]
    where = ".".join(words)
    return where, f"{where}: {first['msg']}"


def _rendered(prompt: str, values: Mapping[str, str]) -> str:
    page = load_prompt("criticality", prompt)
    told = {"grammar": load_prompt("criticality", "grammar").text} if "grammar" in page.placeholders else {}
    return "\n".join(_squeezed(page.render(**values, **told)))


def _squeezed(text: str) -> list[str]:
    """Sections that stayed empty leave one blank line, not three."""
    lines: list[str] = []
    for line in text.split("\n"):
        if line.strip() or (lines and lines[-1].strip()):
            lines.append(line.rstrip())
    return lines
