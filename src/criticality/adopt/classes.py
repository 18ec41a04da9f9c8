"""What a model proposes for a class: how one is made, what is seen of it, and what each method promises."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from pydantic import Field

from criticality.adopt.proposing import Promises, Proposal, Revision, Types
from criticality.judging.steps import CALLS, placed
from criticality.spec.contracts import parse_contract
from criticality.spec.predicates import PredicateFault, parse_predicate, renamed
from criticality.spec.spec import Method
from criticality.spec.types import TypeFault, TypeRef, parse_param, parse_type
from criticality.standing import Candidate

#: The type of an object of the class itself: as a result by what is seen of it, as a parameter by what makes one.
SELF = "Self"
_CLAUSE = re.compile(r"([a-z][a-z0-9_]*): ?((?:REQUIRES|ENSURES):.*)\Z", re.DOTALL)


class ClassProposal(Proposal):
    """What a class promises.

    Args:
        params: what makes one, in the words of its constructor or of ``maker``, a class method.
        observers: ``name: Type = expression over self`` each; they are asked after each call.
        methods: those that are called, with what each takes and gives.
        contracts: a clause of the constructor; ``method: ENSURES: predicate`` is one of a method, and ``INVARIANT:
            predicate`` holds after each call.
    """

    maker: str = ""
    observers: list[str] = Field(default=[], max_length=12)
    methods: list[Method] = Field(default=[], max_length=40)
    contracts: list[str] = Field(default=[], max_length=200)

    def called(self, name: str) -> str:
        """Return how a case is called: it holds each call as it is."""
        return "{}"

    def asked_of(self, candidate: Candidate) -> Candidate:
        """Return the class with its observers and what makes one."""
        observers = {head.partition(":")[0].strip(): code for head, code in self.seen().items()}
        return replace(candidate, observers=observers, maker=self.maker)

    def seen(self) -> dict[str, str]:
        """Return the expression of each observer, by ``name: Type``."""
        return {head.strip(): code.strip() for head, _, code in (one.partition("=") for one in self.observers)}

    def parts(self, candidate: Candidate) -> list[Promises]:
        """Return the constructor, then each method; a name of an observer is what is seen, ``old(name)`` before."""
        title, members = titled(candidate), candidate.members
        clauses = defaultdict[str, list[str]](list)
        for line in self.contracts:
            found = _CLAUSE.match(line)
            of, clause = (found[1], found[2]) if found else ("INVARIANT" * line.startswith("INVARIANT"), line)
            clauses[of].append(clause)
        always = clauses["INVARIANT"]
        names = [text.partition(":")[0].strip() for text in (*self.params, *self.seen())]
        made = [*self.params, f"{CALLS}: List<{title}Call>"]
        whole = Promises(
            members.get(self.maker, candidate), candidate.name, made, f"List<{title}After>", [*clauses[""], *always],
            self.params, "Unit", (), tuple(names),
        )  # fmt: skip
        methods = [
            Promises(
                members[one.name], f"{candidate.name}_{one.name}",
                [_plain(text, f"{title}Made") for text in one.params], _plain(one.returns, f"{title}State"),
                [*clauses[one.name], *always], one.params, one.returns, (SELF,), tuple(names),
            )
            for one in self.methods
        ]  # fmt: skip
        return [whole, *methods]

    def types(self, candidate: Candidate) -> Types:
        """Return calls and what comes of them as types."""
        title, (whole, *methods) = titled(candidate), self.parts(candidate)
        held, returned = list[TypeRef](), list[TypeRef]()
        for part in methods:
            kinds = [parse_param(text).type for text in part.params]
            for kind in kinds:
                held += [kind] * (kinds.count(kind) - held.count(kind))
            result = parse_type(part.returns)
            option = result if result.name == "Option" else TypeRef("Option", (result,))
            returned += [option] if result.name != "Unit" and option not in returned else []
        call = _record([f"to: {title}Member", *_numbered("a", held)])
        records = {
            f"{title}State": _record(self.seen()),
            f"{title}Call": call | {"invariants": list(_admitted(methods, held, f"{title}Member"))},
            f"{title}After": _record(["error: Text", f"state: {title}State", *_numbered("r", returned)]),
        }  # fmt: skip
        if self.params:
            records[f"{title}Made"] = _record(self.params) | {"invariants": list(_makes(whole))}
        return {"enums": {f"{title}Member": [part.name for part in methods]}, "data_models": records}

    def own_fault(self, candidate: Candidate) -> str:
        """Tell what is wrong with observers, methods and addresses of clauses; empty where nothing is."""
        faults = (fault for head, code in self.seen().items() if (fault := _observer_fault(head, code)))
        return next(faults, "") or self._asking_fault(candidate.members)

    def _asking_fault(self, members: Mapping[str, Candidate]) -> str:
        able = [name for name, one in members.items() if one.role == "method" and not one.refused]
        names = [one.name for one in self.methods]
        if strange := [name for name in names if name not in able]:
            return f"the class has no method {strange[0]} that can be called; there are {', '.join(able)}"
        if self.maker and getattr(members.get(self.maker), "role", "") != "maker":
            return f"{self.maker} is no class method that makes one"
        addressed = {found[1] for line in self.contracts if (found := _CLAUSE.match(line))}
        if unknown := addressed - {*names}:
            return f"a clause is of {min(unknown)}, which is not among methods"
        if any(text.endswith(f" {SELF}") for one in self.methods for text in one.params) and not self.params:
            return "nothing makes a Self as parameter; leave out methods that take one"
        enough = names and self.observers and len({*names}) == len(names)
        return "" if enough else "a class has at least one observer and one method, and each method once"


class ClassRevision(Revision):
    """A decision on each broken promise, and the whole proposal on a class as it is after that."""

    proposal: ClassProposal  # pyright: ignore[reportIncompatibleVariableOverride]


def titled(candidate: Candidate) -> str:
    """Return the beginning of the names of a class's types."""
    return re.sub(r"[^A-Za-z0-9]", "", candidate.written)[:50]


def _observer_fault(head: str, code: str) -> str:
    try:
        parse_param(head)
        whole = parse_predicate(code, known={"self"}).checkable
    except (TypeFault, PredicateFault) as fault:
        return f"the observer {head}: {fault}"
    return "" if whole else f"the observer {head} has no expression over self; one is size: Int = len(self)"


def _plain(text: str, record: str) -> str:
    """Return a type, or a parameter, with a record in the place of an object of the class."""
    name, colon, kind = text.rpartition(":")
    return f"{name}{colon} {record}".strip() if kind.strip() == SELF else text


def _numbered(letter: str, kinds: list[TypeRef]) -> Iterator[str]:
    return (f"{letter}{at}: {kind}" for at, kind in enumerate(kinds, 1))


def _record(fields: Iterable[str]) -> dict[str, list[object]]:
    return {"fields": [{"name": p.name, "type": str(p.type)} for p in map(parse_param, fields)]}


def _admitted(methods: list[Promises], held: list[TypeRef], member: str) -> Iterator[str]:
    """Yield what REQUIRES of a method says of its arguments alone, as invariants of a call."""
    for part in methods:
        params = [parse_param(text) for text in part.params]
        fields = {p.name: f"a{at + 1}" for p, at in zip(params, placed([p.type for p in params], held), strict=True)}
        for required in parse_contract(part.contracts or ["PURITY: pure"]).requires:
            if required.code and required.names <= fields.keys():
                yield f"to == {member}.{part.name.upper()} implies ({renamed(required.code, fields)})"


def _makes(whole: Promises) -> Iterator[str]:
    """Yield what must hold of the arguments of a constructor that returns, as invariants."""
    contract, own = parse_contract(whole.contracts or ["PURITY: pure"]), {p.partition(":")[0] for p in whole.given}
    codes = [p.code for p in contract.requires]
    codes += [f"not ({p.when})" for p in contract.ensures if p.raised and p.when]
    yield from (code for code in codes if code and parse_predicate(code).names <= own)
