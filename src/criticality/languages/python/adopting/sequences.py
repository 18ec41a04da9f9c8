"""Sequences of calls that were judged, as tests that a person reads: one a function, line by line."""

from __future__ import annotations

import builtins
import re
from collections.abc import Iterator, Sequence
from typing import Any

from criticality.judging.domain import Domain
from criticality.judging.served import Raised, Returned
from criticality.judging.steps import CallMade, calls_made
from criticality.judging.wire import Codec
from criticality.languages.python.cases import literal
from criticality.languages.python.names import WORDS
from criticality.spec.types import TypeRef
from criticality.spec.values import fields_of
from criticality.standing import Adopted, Candidate, by_keyword

#: Sequences of a class; calls, with the one that makes the object, and characters of one.
_MOST, _CALLS, _WIDEST = 120, 65, 12_000
_OPERATORS: dict[str, str] = WORDS["operators"]
_NO_NUMBER, _SELF = re.compile(r"\b(nan|inf)\b"), re.compile(r"\bself\b")


def sequence_tests(adopted: Adopted) -> list[str]:
    """Return what is seen of an object, and a test of each sequence."""
    candidate, codec = adopted.candidate, Codec(Domain(adopted.artifacts.approved), adopted.artifacts.plan)
    bodies: dict[str, None] = {}
    for args, error, told in codec.cases(candidate.id, adopted.cases):
        calls = calls_made(codec.functions, candidate.id, args, told or ())
        lines = _lines(candidate, codec, calls) if told else _raising(error, _written(candidate, codec, calls[0]))
        body = "\n".join(f"    {line}" for line in lines)
        if len(calls) <= _CALLS and len(body) <= _WIDEST and not _NO_NUMBER.search(body):
            bodies[body] = None
    seen = ", ".join(_SELF.sub("it", code) for code in candidate.observers.values())
    look = f"def {candidate.name}_seen(it):\n    return plain([{seen}])\n"
    tests = [f"def test_{candidate.name}_{number}():\n{body}\n" for number, body in enumerate(bodies, 1)][:_MOST]
    return [look, *tests] if tests else []


def _lines(candidate: Candidate, codec: Codec, calls: Sequence[CallMade]) -> Iterator[str]:
    """Yield the lines of a sequence: each call, and what is seen of the object then."""
    state, *_ = candidate.named.records
    fields = TypeRef("Tuple", tuple(of for _, of in fields_of(codec.domain.spec, state)))

    def held(kind: TypeRef, value: Any) -> str:
        return f"plain({literal(codec, kind, value, changing=True)})"

    for call in calls:
        result, text = call.plan.result, _written(candidate, codec, call)
        match call.outcome:
            case _ if call is calls[0]:
                yield f"it = {text}"
            case Raised(kind=kind):
                yield from _raising(kind, text)
            case Returned(value=value) if result.name == state:
                yield f"assert {candidate.name}_seen({text}) == {held(fields, tuple(value.__dict__.values()))}"
            case Returned(value=value) if result.name != "Unit":
                yield f"assert plain({text}) == {held(result, value)}"
            case _:
                yield text
        yield f"assert {candidate.name}_seen(it) == {held(fields, tuple(call.after.state.__dict__.values()))}"


def _written(candidate: Candidate, codec: Codec, call: CallMade) -> str:
    """Return a call as Python has it: an operator where a method is one."""
    pairs = list(zip(call.plan.parameters, call.args, strict=False))
    member = candidate if call.function == candidate.id else candidate.members[call.called]
    names = by_keyword([p.name for p, _ in pairs], member)
    values = [literal(codec, p.type, value, changing=True) for p, value in pairs]
    given = ", ".join(
        f"{p.name}={text}" if p.name in names else text for (p, _), text in zip(pairs, values, strict=True)
    )
    if member.steps:
        return f"{member.name}_of({', '.join([*(['it'] if member is not candidate else []), *values])})"
    form = "{name}({all})" if member is candidate else _OPERATORS.get(member.written, "{self}.{name}({all})")
    return form.format(*values, self="it", name=member.written, all=given)


def _raising(error: str, call: str) -> Iterator[str]:
    yield f"with pytest.raises({error if hasattr(builtins, error) else 'Exception'}):"
    yield f"    {call}"
