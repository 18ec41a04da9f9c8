"""A prover: a model that gives a test for a finding, and hears word for word what was seen, until it holds."""

from __future__ import annotations

import ast
import re
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from typing import TypeAlias, cast

from pydantic import BaseModel, Field, model_validator

from crucible.asking import Asker, Wanted
from crucible.behaviour import BEHAVIOUR
from crucible.proving.records import Proof, Witness
from llm_runtime.errors import CallError, StructuredOutputError
from llm_runtime.messages import CallLabel, Message
from llm_runtime.prompts import Fence, load_prompt
from llm_runtime.structs import Struct

TRIES = 3
#: Characters of each text that is shown, by the bound that a call is composed for: all, less, least.
_SHOWN = {None: 24_000, 600: 6_000, 200: 2_000}
_PROMPTS = "crucible.proving"
Texts: TypeAlias = Sequence[tuple[str, str, int]]
"""What is shown, each text with its name before it and behind it the line around which it matters."""


class GivenWitness(Witness):
    """What a prover answers: a witness, or why there is none."""

    test: str = Field(default="", max_length=20_000)
    not_reproducible: str = Field(default="", max_length=2_000)

    @model_validator(mode="before")
    @classmethod
    def _given(cls, data: object) -> object:
        # A model writes null for what it leaves out.
        if not isinstance(data, dict):
            return data
        return {name: one for name, one in cast("dict[str, object]", data).items() if one is not None}


class Blind(BaseModel):
    """What who knows the words alone says that a call answers."""

    answers: str


class Proven(BaseModel):
    """What came of a finding.

    Args:
        proof: what running says of it.
        tries: how often its prover answered.
        given_up: why the prover says that it cannot be reproduced; empty where it does not.
        read_alike: whether who read the quoted words alone expects the same; ``None`` where nobody was asked.
    """

    proof: Proof
    tries: int = 0
    given_up: str = ""
    read_alike: bool | None = None


class FindingCase(Struct):
    """One finding to be proved.

    Args:
        id: its fingerprint.
        number: its place among the findings, from 1.
        finding: as the prover is shown it.
        material: what else it is shown, the most wanted first.
        command: the test command.
        judge: runs a witness: first its call alone, which is cheap, then the rest.
    """

    id: str
    number: int
    finding: str
    material: Texts
    command: str
    judge: Callable[[Witness], Awaitable[Proof]]


async def prove(case: FindingCase, asker: Asker, models: Sequence[str], seed: int) -> Proven:
    """BoxRequest for a witness, at most three times, and have it judged.

    Args:
        case: the finding.
        asker: makes the calls.
        models: who proves, who stands in for it, and who reads words blind; the first is another than the finder.
        seed: of the run.

    Raises:
        BudgetExceeded, DeadlineExceeded, ConfigurationError: as models and boxes raise them.
    """
    turns: list[Message] = []
    proof, tries = Proof(finding=case.id, verdict="not reproduced"), 0
    for tries in range(1, TRIES + 1):
        label = CallLabel("crucible", "prover", f"F{case.number}", tries)
        wanted = Wanted(GivenWitness, _composer(case, seed, turns), _whole, shown=case.finding)
        try:
            attempt = await asker.record(wanted, label, [(models[0],), (models[1],)])
        except (CallError, StructuredOutputError) as fault:
            return Proven(proof=proof.model_copy(update={"refused": f"no witness: {fault}"[:500]}), tries=tries)
        if why := attempt.not_reproducible.strip():
            given_up = proof.model_copy(update={"refused": f"its prover gives it up: {why}"})
            return Proven(proof=given_up, tries=tries, given_up=why)
        witness = Witness.model_validate(attempt.model_dump())
        proof = await case.judge(witness)
        if proof.verdict != "not reproduced":
            alike = await _read_alike(case, witness, asker, models[-1], seed) if proof.verdict == "argued" else None
            return Proven(proof=proof, tries=tries, read_alike=alike)
        fence = Fence(seed, CallLabel("crucible", "refused", f"F{case.number}", tries))
        seen = fence("WHAT WAS SEEN", proof.refused or "nothing failed")
        again = load_prompt(_PROMPTS, "prove_again").render(refusal=seen, left=str(TRIES - tries))
        turns += [Message("assistant", attempt.model_dump_json()), Message("user", again)]
    return Proven(proof=proof, tries=tries)


def _composer(case: FindingCase, seed: int, turns: Sequence[Message]) -> Callable[[int | None], list[Message]]:
    # The first turn stays as it was: its fence is drawn for the finding, not for the try.
    fence, later = Fence(seed, CallLabel("crucible", "prover", f"F{case.number}")), list(turns)

    def compose(bound: int | None) -> list[Message]:
        shown = (fence(name, _around(text, line, _SHOWN[bound])) for name, text, line in case.material)
        task = load_prompt(_PROMPTS, "prove").render(
            finding=fence("FINDING", case.finding),
            material="\n\n".join(shown),
            command=case.command,
            laws="" if BEHAVIOUR.before(15) else f" {load_prompt(_PROMPTS, 'laws').render()}",
        )
        return [Message("user", task), *later]

    return compose


def _around(text: str, line: int, most: int) -> str:
    if len(text) <= most:
        return text
    at = sum(map(len, text.splitlines(keepends=True)[: line - 1]))
    start = max(min(at - most // 2, len(text) - most), 0)
    return f"[…]\n{text[start : start + most]}\n[…]"


def _whole(attempt: GivenWitness) -> str | None:
    whole = attempt.not_reproducible.strip() or (attempt.test.strip() and attempt.call.strip())
    return None if whole else "give `call` and `test`, or say in `not_reproducible` why there is none"


async def _read_alike(case: FindingCase, witness: Witness, asker: Asker, model: str, seed: int) -> bool | None:
    label = CallLabel("crucible", "blind", f"F{case.number}")
    fence = Fence(seed, label)
    texts = {"quote": fence("WORDS", witness.quote), "call": fence("CALL", witness.call)}
    task = Message("user", load_prompt(_PROMPTS, "blind").render(**texts))
    try:
        read = await asker.record(Wanted(Blind, lambda _: [task], shown=witness.quote), label, [(model,)])
    except (CallError, StructuredOutputError):
        return None
    return same_value(read.answers, witness.before)


def same_value(one: str, other: str) -> bool:
    """Tell whether two values are written alike, as Python reads them or to the letter.

    >>> same_value("[1,2]", "[1, 2]"), same_value("ValueError", "ValueError()"), same_value("1", "undecided")
    (True, True, False)
    """
    one, other = sorted((one.strip(" `"), other.strip(" `")), key=len)
    with suppress(ValueError, SyntaxError, MemoryError, RecursionError):
        return bool(ast.literal_eval(one) == ast.literal_eval(other))
    # An exception is known by its name, whatever it says.
    return one == other or (one.isidentifier() and re.match(rf"{one}[(:]", other) is not None)
