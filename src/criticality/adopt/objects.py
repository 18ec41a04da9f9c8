"""What a model proposes for a function that takes or gives objects: how they are made, and what is seen."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from pydantic import Field

from criticality.adopt.proposing import Proposal, Revision
from criticality.spec.predicates import PredicateFault, parse_predicate
from criticality.spec.types import parse_param
from criticality.standing import Candidate, Parameter, by_keyword

_MADE = re.compile(r"\s*(\*?[A-Za-z]\w*)\s*=(?!=)\s*(.+)", re.DOTALL)


class ObjectProposal(Proposal):
    """What a function of objects promises, over what is drawn and what is seen of its result.

    Args:
        params: what is drawn; a parameter of the function's own is handed on as it is.
        made: ``parameter = expression over what is drawn`` each; a clause may call what is a function.
        seen: what is seen of ``result``; empty where that is a plain value.
    """

    made: list[str] = Field(default=[], max_length=12)
    seen: str = Field(default="", max_length=300)

    def model_post_init(self, context: Any, /) -> None:
        """Let clauses and checks have a made function in its own words: what is judged knows no other name of it."""
        drawn = {text.partition(":")[0].strip() for text in self.params}
        for name, code in (found.groups() for text in self.made if (found := _MADE.fullmatch(text))):
            try:
                parse_predicate(code, known=drawn)
            except PredicateFault:
                continue
            name = re.compile(rf"(?<![.\w'\"]){re.escape(name)}(?![\w'\"]|\s*=(?!=))")
            for lines in (self.contracts, *(test.check for claim in self.claims for test in claim.tests)):
                lines[:] = [name.sub(lambda _, code=code: f"({code})", line) for line in lines]

    def asked_of(self, candidate: Candidate) -> Candidate:
        """Return the function as one of what is drawn, with the steps from there to what is seen."""
        if candidate.steps or not (self.made or self.seen):
            return candidate
        drawn = [parse_param(text).name for text in self.params]
        made, own = dict(self._made()), candidate.written or candidate.name
        if own in {*drawn, *made}:
            raise ValueError(f"{own} is the function; what is drawn has another name")
        given = [p for p in candidate.parameters if p.name in {*drawn, *made}]
        if strange := made.keys() - {p.name for p in given}:
            raise ValueError(f"the function has no parameter {min(strange)} that could be made")
        if lacking := [p.name for p in candidate.parameters if p not in given and not p.default]:
            raise ValueError(f"the parameter {', '.join(lacking)} has no default: it is among params or made")
        named = by_keyword([p.name for p in given], candidate)
        call = ", ".join(f"{p.name}={p.name}" if p.name in named else p.name for p in given)
        steps = [f"{name.lstrip('*')} = {code}" for name, code in made.items()]
        steps += [f"result = first_items({own}({call}))"]
        return replace(
            candidate, steps=(*steps, f"return {_expression(self.seen or 'result')}"),
            parameters=tuple(map(Parameter, drawn)),
        )  # fmt: skip

    def _made(self) -> Iterator[tuple[str, str]]:
        for text in self.made:
            if not (found := _MADE.fullmatch(text)):
                raise ValueError(f"{text[:80]!r} is not written 'parameter = expression'")
            yield found[1], _expression(found[2])


class ObjectRevision(Revision):
    """A decision on each broken promise, and the whole proposal on a function of objects as it is after that."""

    proposal: ObjectProposal  # pyright: ignore[reportIncompatibleVariableOverride]


def _expression(text: str) -> str:
    """Return an expression.

    Raises:
        ValueError: it is none of the language of predicates.
    """
    if not parse_predicate(text).checkable:
        raise ValueError(f"{text[:80]!r} is no expression")
    return " ".join(text.split())
