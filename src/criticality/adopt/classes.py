"""What a model proposes for a class: how one is made, what is seen of it, and what each method promises."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from pydantic import Field

from criticality.adopt.objects import in_own_words, of_drawn
from criticality.adopt.proposing import Proposal, Revision
from criticality.judging.steps import CALL, CALLS, field_of
from criticality.spec.contracts import parse_contract
from criticality.spec.predicates import parse_predicate, renamed
from criticality.spec.spec import Method
from criticality.spec.types import Param, parse_param, parse_type
from criticality.standing import Candidate, NamedTypes, Parameter

_CLAUSE = re.compile(r"(?:([a-z][a-z0-9_]*): ?(?=REQUIRES:|ENSURES:))?(.*)", re.DOTALL)


class MadeMethod(Method):
    """A method that is called; ``made`` and ``seen`` are as those of a function."""

    made: list[str] = Field(default=[], max_length=12)
    seen: str = Field(default="", max_length=300)


class ClassProposal(Proposal):
    """What a class promises.

    Args:
        params: what makes one, in the words of its constructor.
        observers: ``name: Type = expression over self`` each; they are asked after each call.
        methods: those that are called, with what each takes and gives; ``Self`` is an object as it is seen.
        contracts: a clause of the constructor; ``method: ENSURES: predicate`` is one of a method, and ``INVARIANT:
            predicate`` holds after each call.
    """

    observers: list[str] = Field(default=[], max_length=12)
    methods: list[MadeMethod] = Field(default=[], max_length=40)
    contracts: list[str] = Field(default=[], max_length=200)

    def model_post_init(self, context: Any, /) -> None:
        """Let clauses of each method call functions that are made for it, and all of them those of the constructor."""
        for one in self.methods:
            in_own_words(one.params, one.made, [self.contracts], f"{one.name}:")
        super().model_post_init(context)

    def asked_of(self, candidate: Candidate) -> Candidate:
        """Return the class as one function of what makes an object, and of the calls behind it."""
        self._require_askable(candidate)
        whole = super().asked_of(candidate)
        plain = re.sub(r"[^A-Za-z0-9]", "", candidate.written)[:50]
        title = plain[:1].upper() + plain[1:]
        state, call, member = f"{title}State", f"{title}{CALL}", f"{title}Member"
        taken = {one.name: [parse_param(text) for text in one.params] for one in self.methods}
        results = {_shown(one.returns, state) for one in self.methods}
        held = {field_of(f"a{at}", p.type): str(p.type) for params in taken.values() for at, p in enumerate(params)}
        given = {field_of("result", parse_type(kind)): f"Option<{kind}>" for kind in sorted(results)}
        seen = dict(self._seen())
        named = NamedTypes(
            enums={member: [*taken]},
            records={
                state: {p.name: str(p.type) for p in seen}, call: {"to": member, **held},
                f"{title}After": {"error": "Text", "state": state, **given},
            },
            invariants={state: [], call: list(self._admitted(taken, member)), f"{title}After": []},
        )  # fmt: skip
        return replace(
            whole, named=named, observers={p.name: code for p, code in seen.items()},
            parameters=(*whole.parameters, Parameter(CALLS)), members=candidate.members | dict(self._made(candidate)),
        )  # fmt: skip

    def _made(self, candidate: Candidate) -> Iterator[tuple[str, Candidate]]:
        """Yield each method whose values are made, as a function of what is drawn."""
        for one in (each for each in self.methods if each.made or each.seen):
            member = replace(candidate.members[one.name], name=f"{candidate.name}_{one.name}", path=candidate.path)
            yield one.name, of_drawn(member, one.params, one.made, one.seen, "self")

    def _admitted(self, taken: Mapping[str, Sequence[Param]], member: str) -> Iterator[str]:
        """Yield what REQUIRES of a method says of its arguments alone, as invariants of a call."""
        clauses = self._clauses()
        for name, params in taken.items():
            fields = {p.name: field_of(f"a{at}", p.type) for at, p in enumerate(params)}
            for required in parse_contract([*clauses[name], "PURITY: pure"]).requires:
                if required.code and required.names <= fields.keys():
                    yield f"to == {member}.{name.upper()} implies ({renamed(required.code, fields)})"

    def _require_askable(self, candidate: Candidate) -> None:
        able = {name: one for name, one in candidate.members.items() if one.handed or not one.refused}
        names = {one.name: one for one in self.methods}
        if strange := [*(names.keys() - able)]:
            raise ValueError(f"the class has no method {min(strange)} that can be called; there are {', '.join(able)}")
        if unknown := self._clauses().keys() - {"", *names}:
            raise ValueError(f"a clause is of {min(unknown)}, which is not among methods")
        if not names or not self.observers:
            raise ValueError("a class has at least one observer and one method")

    def _seen(self) -> Iterator[tuple[Param, str]]:
        """Yield each observer with its expression."""
        for head, _, code in (one.partition("=") for one in self.observers):
            if not parse_predicate(code, known={"self"}).checkable:
                raise ValueError(f"the observer {head} has no expression over self; one is size: Int = len(self)")
            yield parse_param(head.strip()), code.strip()

    def without(self, promise: str) -> ClassProposal | None:
        """Return it without the method of a promise; ``None`` where there is no other."""
        of = promise.partition(":")[0]
        methods = [one for one in self.methods if one.name != of]
        update = {"methods": methods, "contracts": [one for one in self.contracts if not one.startswith(f"{of}:")]}
        return self.model_copy(update=update) if 0 < len(methods) < len(self.methods) else None

    def parts(self, asked: Candidate) -> list[tuple[Candidate, Proposal]]:
        """Return the constructor, then each method, each with what it promises alone."""
        state, call, after = asked.named.records
        clauses, always = self._clauses(), [line for line in self.contracts if line.startswith("INVARIANT")]
        made = {"params": [*self.params, f"{CALLS}: List<{call}>"], "returns": f"List<{after}>"}
        parts: list[tuple[Candidate, Proposal]] = [(asked, self.model_copy(update=made | {"contracts": clauses[""]}))]
        seen = {**asked.observers, **dict.fromkeys((text.partition(":")[0] for text in self.params), "")}
        for one in self.methods:
            returns, own = _shown(one.returns, state), [*clauses[one.name], *always]
            part = self.model_copy(update={"contracts": own, "returns": returns, "params": one.params})
            member, name = asked.members[one.name], f"{asked.name}_{one.name}"
            parts.append((replace(member, name=name, named=asked.named, observers=seen), part))
        return parts

    def _clauses(self) -> dict[str, list[str]]:
        """Return the clauses of each method by its name, and those of the whole under none."""
        clauses = defaultdict[str, list[str]](list)
        for line in self.contracts:
            (of, clause), *_ = _CLAUSE.findall(line)
            clauses[of].append(clause)
        return clauses


class ClassRevision(Revision):
    """A decision on each broken promise, and the whole proposal on a class as it is after that."""

    proposal: ClassProposal  # pyright: ignore[reportIncompatibleVariableOverride]


def _shown(kind: str, state: str) -> str:
    """Return a type with what is seen of an object in its place."""
    return state if kind.strip() == "Self" else kind
