"""Sequences of calls that were judged, as tests that a person reads: one a function, line by line."""

from __future__ import annotations

import builtins
import re
from collections.abc import Iterator, Sequence
from typing import Any

from criticality.judging.domain import Domain
from criticality.judging.served import Raised
from criticality.judging.steps import CallMade, steps, titled
from criticality.judging.wire import Codec
from criticality.languages.python.cases import literal
from criticality.languages.python.names import WORDS
from criticality.lattice_plan import FunctionPlan
from criticality.spec.types import TypeRef, parse_type
from criticality.standing import Adopted, Candidate, by_keyword
from llm_runtime.structs import Struct

#: Sequences of a class; calls and characters of one.
_MOST, _CALLS, _WIDEST = 120, 64, 6_000
_OPERATORS: dict[str, str] = WORDS["operators"]
_NO_NUMBER, _LIST, _SELF = re.compile(r"\b(nan|inf)\b"), re.compile(r"\blist\("), re.compile(r"\bself\b")


def sequence_tests(adopted: Adopted) -> list[str]:
    """Return what is seen of an object, and a test of each sequence."""
    candidate = adopted.candidate
    writing = _Writing(candidate, Codec(Domain(adopted.artifacts.approved), adopted.artifacts.plan))
    bodies: dict[str, None] = {}
    for args, error, told in writing.codec.cases(candidate.id, adopted.cases):
        body = "\n".join(f"    {line}" for line in writing.lines(args, error, told or ()))
        if len(args[-1]) <= _CALLS and len(body) <= _WIDEST and not _NO_NUMBER.search(body):
            bodies[body] = None
    seen = ", ".join(_LIST.sub("first(", _SELF.sub("it", code)) for code in candidate.observers.values())
    look = f"def {candidate.name}_seen(it):\n    return plain([{seen}])\n"
    tests = [f"def test_{candidate.name}_{number}():\n{body}\n" for number, body in enumerate(bodies, 1)][:_MOST]
    return [look, *tests] if tests else []


class _Writing(Struct):
    candidate: Candidate
    codec: Codec

    def lines(self, args: Sequence[Any], error: str, told: Sequence[Any]) -> Iterator[str]:
        candidate, functions = self.candidate, self.codec.functions
        making = self.made([p.type for p in functions[candidate.id].parameters[:-1]], args[:-1])
        if error:
            yield from _raising(error, making)
            return
        yield f"it = {making}"
        for step in steps(self.codec.domain.spec, functions, candidate.id, args, told):
            if step.function != candidate.id:
                yield from self.called(step, functions[step.function])
            yield f"assert {candidate.name}_seen(it) == {self.state(step.after)}"

    def made(self, kinds: Sequence[TypeRef], values: Sequence[Any]) -> str:
        """Return how an object is made of values."""
        candidate, names = self.candidate, [p.name for p in self.codec.functions[self.candidate.id].parameters[:-1]]
        maker = candidate.members.get(candidate.maker, candidate)
        given = self.given(maker, names, [self.value(*one) for one in zip(kinds, values, strict=True)])
        return f"{candidate.written}{'.' * bool(candidate.maker)}{candidate.maker}({given})"

    def called(self, step: CallMade, plan: FunctionPlan) -> Iterator[str]:
        member = self.candidate.members[step.function.removeprefix(f"{self.candidate.id}_")]
        values = [self.value(p.type, value) for p, value in zip(plan.parameters, step.args, strict=True)]
        given = self.given(member, [p.name for p in plan.parameters], values)
        form = _OPERATORS.get(member.written, f"{{self}}.{member.written}({{all}})")
        call = form.format(*values, self="it", all=given)
        result = getattr(step.outcome, "value", None)
        if isinstance(step.outcome, Raised):
            yield from _raising(step.outcome.kind, call)
        elif plan.result.name == "Unit":
            yield call
        elif plan.result.name == f"{titled(self.codec.functions[self.candidate.id])}State":
            yield f"assert {self.candidate.name}_seen({call}) == {self.state(vars(result))}"
        else:
            yield f"assert plain({call}) == plain({self.value(plan.result, result)})"

    def value(self, kind: TypeRef, value: Any) -> str:
        """Return a value as it is written; of a record that stands for an object, how that is made."""
        model = self.codec.domain.spec.data_models.get(kind.name)
        if model is None:
            return literal(self.codec, kind, value, changing=True)
        kinds = [p.type for p in self.codec.functions[self.candidate.id].parameters[:-1]]
        return self.made(kinds, list(vars(value).values()))

    def state(self, seen: Any) -> str:
        kinds = self.codec.domain.spec.data_models[f"{titled(self.codec.functions[self.candidate.id])}State"].fields
        texts = (self.value(parse_type(field.type), seen[field.name]) for field in kinds)
        return f"plain([{', '.join(texts)}])"

    @staticmethod
    def given(member: Candidate, names: Sequence[str], values: Sequence[str]) -> str:
        named = by_keyword(names, member)
        pairs = zip(names, values, strict=True)
        return ", ".join(f"{name}={value}" if name in named else value for name, value in pairs)


def _raising(error: str, call: str) -> Iterator[str]:
    yield f"with pytest.raises({error if hasattr(builtins, error) else 'Exception'}):"
    yield f"    {call}"
