"""Sequences of calls that were judged, as tests that a person reads: one a function, line by line."""

from __future__ import annotations

import builtins
import re
from collections.abc import Iterator, Sequence
from typing import Any

from criticality.judging.domain import Domain
from criticality.judging.served import Raised, Returned
from criticality.judging.steps import CallMade, calls_made, came
from criticality.judging.wire import Codec
from criticality.languages.python.cases import literal
from criticality.languages.python.names import WORDS
from criticality.spec.values import fields_of
from criticality.standing import Adopted, Candidate, by_keyword

#: Sequences of a class; calls and characters of one.
_MOST, _CALLS, _WIDEST = 120, 64, 6_000
_OPERATORS: dict[str, str] = WORDS["operators"]
_NO_NUMBER, _LIST, _SELF = re.compile(r"\b(nan|inf)\b"), re.compile(r"\blist\("), re.compile(r"\bself\b")


def sequence_tests(adopted: Adopted) -> list[str]:
    """Return what is seen of an object, and a test of each sequence."""
    candidate, codec = adopted.candidate, Codec(Domain(adopted.artifacts.approved), adopted.artifacts.plan)
    bodies: dict[str, None] = {}
    for args, error, told in codec.cases(candidate.id, adopted.cases):
        body = "\n".join(
            f"    {line}"
            for line in _lines(candidate, codec, calls_made(codec.functions, candidate.id, args), error, told or ())
        )
        if len(args[-1]) <= _CALLS and len(body) <= _WIDEST and not _NO_NUMBER.search(body):
            bodies[body] = None
    seen = ", ".join(_LIST.sub("first(", _SELF.sub("it", code)) for code in candidate.observers.values())
    look = f"def {candidate.name}_seen(it):\n    return plain([{seen}])\n"
    tests = [f"def test_{candidate.name}_{number}():\n{body}\n" for number, body in enumerate(bodies, 1)][:_MOST]
    return [look, *tests] if tests else []


def _lines(
    candidate: Candidate, codec: Codec, calls: Sequence[CallMade], error: str, told: Sequence[Any]
) -> Iterator[str]:  # fmt: skip
    """Yield the lines of a sequence; one that ends with an error ends where the object is made."""
    state, *_ = candidate.named.records
    if error:
        yield from _raising(error, _written(candidate, codec, calls[0]))
    for call, after in zip(calls, told, strict=False):
        plan, text = codec.functions[call.function], _written(candidate, codec, call)
        match came(plan, after):
            case Raised(kind=kind):
                yield from _raising(kind, text)
            case Returned(value=value) if plan.result.name == state:
                yield f"assert {candidate.name}_seen({text}) == {_state(codec, state, value)}"
            case Returned(value=value) if call is not calls[0] and plan.result.name != "Unit":
                yield f"assert plain({text}) == plain({literal(codec, plan.result, value, changing=True)})"
            case _:
                yield f"it = {text}" if call is calls[0] else text
        yield f"assert {candidate.name}_seen(it) == {_state(codec, state, after.state)}"


def _written(candidate: Candidate, codec: Codec, call: CallMade) -> str:
    """Return a call as Python has it: an operator where a method is one."""
    params = codec.functions[call.function].parameters
    member = candidate if call.function == candidate.id else candidate.members[call.called]
    names = by_keyword([p.name for p in params], member)
    values = [literal(codec, p.type, value, changing=True) for p, value in zip(params, call.args, strict=False)]
    given = ", ".join(
        f"{p.name}={value}" if p.name in names else value for p, value in zip(params, values, strict=False)
    )
    form = "{name}({all})" if member is candidate else _OPERATORS.get(member.written, "{self}.{name}({all})")
    return form.format(*values, self="it", name=member.written, all=given)


def _state(codec: Codec, state: str, seen: Any) -> str:
    fields = fields_of(codec.domain.spec, state)
    return f"plain([{', '.join(literal(codec, of, getattr(seen, name), changing=True) for name, of in fields)}])"


def _raising(error: str, call: str) -> Iterator[str]:
    yield f"with pytest.raises({error if hasattr(builtins, error) else 'Exception'}):"
    yield f"    {call}"
