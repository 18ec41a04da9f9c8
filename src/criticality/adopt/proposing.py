"""What a model proposes for a function that exists: types, contract, claims; and what is wrong with a proposal."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from inspect import Parameter as Sign
from inspect import Signature
from itertools import repeat
from typing import Annotated, Any, Literal, Self, cast

from pydantic import Field, model_validator

from criticality.adopt.objects import in_own_words, of_drawn
from criticality.artifacts import Artifacts
from criticality.asking import Note, Question, sieved
from criticality.behaviour import BEHAVIOUR
from criticality.judging.claims import claim_fault
from criticality.judging.domain import Domain, NotEvaluable
from criticality.lattice_plan import FunctionPlan, ModulePlan
from criticality.spec.claims import Claim, ClaimTest, ClaimType, StructuredClaim
from criticality.spec.contracts import parse_contract
from criticality.spec.predicates import parse_predicate
from criticality.spec.spec import Interface, Method, Spec, System, fault_line
from criticality.spec.types import SCALARS, Param, TypeFault, TypeRef, parse_param, parse_type
from criticality.standing import PREFIX, Candidate
from llm_runtime.models import Model
from llm_runtime.prompts import load_prompt

_LITERALS: dict[str, tuple[type, ...]] = {
    "Int": (int,), "Float": (int, float), "Text": (str,), "String": (str,), "Bool": (bool,), "Bytes": (bytes,),
    "Unit": (type(None),), "List": (list, tuple), "Set": (set, frozenset), "Tuple": (tuple,), "Map": (dict,),
}  # fmt: skip
_TYPES = SCALARS | {"List", "Set", "Option", "Map", "Tuple", "Result"}
#: How a clause begins that allows an error, and what is said of one that was found.
ALLOWED, FOUND = "ENSURES: True or raises(", "see the findings"
Source = Literal["docstring", "example", "callers", "code", "person"]


class Promised(Model):
    """One claim on a function: a sentence, where it comes from, and the tests that show it."""

    text: Annotated[str, Field(min_length=3, max_length=400)]
    type: ClaimType = "behavioral"
    source: Source = "docstring"
    tests: list[ClaimTest] = Field(default=[], max_length=6)


class Proposal(Model):
    """What a function takes, gives and promises; ``refused`` says why it has no plain values, else it is empty.

    Args:
        params: what is drawn: of a function of plain values, its own.
        made: ``parameter = expression over what is drawn`` each, of objects; a clause may call what is a function.
        seen: what is seen of ``result``; empty where that is a plain value.
    """

    params: list[str] = Field(default=[], max_length=12)
    returns: str = "Unit"
    doc: str = Field(default="", max_length=300)
    errors: dict[str, str] = {}
    made: list[str] = Field(default=[], max_length=12)
    seen: str = Field(default="", max_length=300)
    contracts: list[str] = Field(default=[], max_length=40)
    claims: list[Promised] = Field(default=[], max_length=12)
    # Models fill fields in this order, and one that begins with a reason to refuse finds one.
    refused: str = Field(default="", max_length=300)

    @model_validator(mode="before")
    @classmethod
    def _at_its_word(cls, answer: Any) -> Any:
        """Take what describes the function for a proposal, whatever reason to refuse stands beside it."""
        if not isinstance(answer, dict):
            return answer
        fields = cast("dict[str, Any]", answer)
        describes = fields.get("contracts") or fields.get("claims")
        return {key: value for key, value in fields.items() if key != "refused" or not describes}

    def model_post_init(self, context: Any, /) -> None:
        """Let clauses and checks call functions that are made."""
        checks = (test.check for claim in self.claims for test in claim.tests)
        in_own_words(self.params, self.made, [self.contracts, *checks])

    def asked_of(self, candidate: Candidate) -> Candidate:
        """Return what stands in the package as this proposal has it asked.

        Raises:
            ValueError: it cannot be asked so; the message says why.
        """
        plain = candidate.steps or not (candidate.handed and (self.made or self.seen))
        return candidate if plain else of_drawn(candidate, self.params, self.made, self.seen)

    def parts(self, asked: Candidate) -> list[tuple[Candidate, Proposal]]:
        """Return what is planned: each has a contract."""
        return [(asked, self)]

    def without(self, promise: str) -> Self | None:
        """Return it without the part that cannot be judged; ``None`` where that is the whole."""


class Answered(Model):
    """What becomes of one promise that the code breaks."""

    number: int
    decision: Literal["reworded", "withdrawn", "finding"]
    because: Annotated[str, Field(min_length=3, max_length=400)]


class Revision(Model):
    """A decision on each broken promise, and the whole proposal as it is after that."""

    answers: list[Answered]
    proposal: Proposal


def artifacts_of(candidate: Candidate, proposal: Proposal, first: int = 1) -> Artifacts:
    """Return a proposal as a project of one function: specification, plan and claims.

    Args:
        first: the number of the first claim, for projects that are put together.

    Raises:
        ValueError: it cannot be one; the message says why.
    """
    module = candidate.id.partition(".")[0]
    named = re.sub(r"[0-9]", "", module)
    ids = {f"{named}_{number:03d}": claim for number, claim in enumerate(proposal.claims, first)}
    references = [f"CLAIM_REF: {name}" for name in ids]
    asked = proposal.asked_of(candidate)
    functions = [
        FunctionPlan(
            name=one.name, params=part.params, returns=part.returns, doc=f"{proposal.doc:.<3}",
            contracts=[*(part.contracts or ["PURITY: pure"]), *_allowed(proposal), *references][:40],
        )
        for one, part in proposal.parts(asked)
    ]  # fmt: skip
    claims = {name: Claim(text=claim.text, type=claim.type, testable=bool(claim.tests)) for name, claim in ids.items()}
    unsaid = {f"{named}_000": Claim(text=f"{candidate.name} does what its contract says", type="invariant")}
    methods = [Method(name=one.name, params=one.params, returns=one.returns) for one in functions]
    slug = "adopted-" + re.sub(r"[^a-z0-9]+", "-", module)[:32]
    spec = Spec(
        system=System(name=slug, description=f"functions of {candidate.module}"),
        enums=asked.named.enums,
        data_models=asked.named.models(),
        errors=proposal.errors,
        interfaces={"".join(part.title() for part in module.split("_")): Interface(methods=methods)},
        claims=claims or unsaid,
    )  # fmt: skip
    purpose = f"functions of {candidate.module}"
    plan = ModulePlan(name=module, purpose=purpose, interfaces=list(spec.interfaces), functions=functions)
    structured = {
        name: StructuredClaim(
            id=name, type=claim.type, subject=candidate.name, predicate=claim.text[:300], scope=claim.source,
            functions=[candidate.id], tests=claim.tests,
        )
        for name, claim in ids.items()
    }  # fmt: skip
    return Artifacts(
        name=spec.system.name, spec=spec, outlines=[{"name": module}], modules={module: plan}, claims=structured,
        order=[[candidate.id]],
    )  # fmt: skip


def _allowed(proposal: Proposal) -> list[str]:
    """Return clauses that allow the errors which a proposal names, with a word on when, and no clause speaks of."""
    said = " ".join([*proposal.contracts, *(error for error, when in proposal.errors.items() if when == FOUND)])
    return [] if BEHAVIOUR.before(4) else [f"{ALLOWED}{one})" for one in proposal.errors if one not in said]


def proposal_fault(candidate: Candidate, proposal: Proposal) -> str | None:
    """Tell why a proposal cannot be judged; ``None`` where it can, or where it refuses the function."""
    return None if proposal.refused else next(_faults(candidate, proposal), None)


def judgeable_parts(candidate: Candidate, proposal: Proposal) -> tuple[Proposal, list[Note]]:
    """Leave out methods, clauses and tests that have a fault of their own, where types and errors have none."""
    bare = proposal.model_copy(update={"contracts": [], "claims": []})
    for one in getattr(bare, "methods", ()):
        why = proposal_fault(candidate, bare.model_copy(update={"methods": [one]}))
        if why and (left := proposal.without(f"{one.name}:")):
            kept, notes = judgeable_parts(candidate, left)
            return kept, [(one.name, why), *notes]
    if proposal.refused or proposal_fault(candidate, bare):
        return proposal, []

    def fault(part: str | Promised) -> str | None:
        field = "contracts" if isinstance(part, str) else "claims"
        return proposal_fault(candidate, bare.model_copy(update={field: [part]}))

    contracts, notes = sieved(proposal.contracts, fault, str)
    claims: list[Promised] = []
    for claim in proposal.claims:
        alone = {test.name: claim.model_copy(update={"tests": [test]}) for test in claim.tests}
        kept, more = sieved(alone.values(), fault, lambda one: f"{one.text} ({one.tests[0].name})")
        notes += more
        sound = claim.model_copy(update={"tests": [one.tests[0] for one in kept]})
        claims += [sound] if kept or not claim.tests else []
    return proposal.model_copy(update={"contracts": contracts, "claims": claims}), notes


def _faults(candidate: Candidate, proposal: Proposal) -> Iterator[str]:
    try:
        for one, part in proposal.parts(proposal.asked_of(candidate)):
            yield from _part_faults(one, part)
        artifacts = artifacts_of(candidate, proposal)
    except (TypeFault, ValueError) as fault:
        yield " ".join(fault_line(fault).split())[:400]
        return
    assert artifacts.spec is not None
    functions = {name: function for name, (_, function) in artifacts.functions.items()}
    for claim in artifacts.claims.values():
        if fault := claim_fault(artifacts.spec, functions, claim, claim.predicate):
            yield fault
    codes = [p.code for function in functions.values() for p in function.contract.predicates if p.checkable]
    yield from _unreadable(artifacts, codes)


def _part_faults(candidate: Candidate, proposal: Proposal) -> Iterator[str]:
    """Yield what is wrong with the types and clauses of a function, or with what a class makes of one."""
    params = [parse_param(text) for text in proposal.params]
    kinds = [*(p.type for p in params), parse_type(proposal.returns)]
    errors = {kind.args[1].name for kind in kinds if kind.name == "Result"}
    own = {*candidate.named.enums, *candidate.named.records}
    if unknown := sorted({name for kind in kinds for name in kind.names()} - _TYPES - errors - own):
        yield f"there is no type {', '.join(unknown)}; use the built-in ones, and REQUIRES for what is narrower"
    known = {p.name: p for p in candidate.parameters}
    names = [p.name for p in params]
    if strange := [name for name in names if name not in known]:
        yield f"{'the function' if candidate.module else candidate.written} has no parameter {', '.join(strange)}"
    if missing := [p.name for p in candidate.parameters if not p.default and p.name not in names]:
        yield f"the parameter {', '.join(missing)} has no default and must be among params"
    if names != [name for name in known if name in names]:
        yield "params stand in the order of the function's own"
    yield from _retyped(candidate, params, kinds[-1])
    contract = parse_contract(
        proposal.contracts or ["PURITY: pure"],
        known={*names, *candidate.observers, *proposal.errors, candidate.name, *own},
    )
    if named := sorted((errors | {e for p in contract.predicates for e in p.raised}) - set(proposal.errors)):
        yield f"errors lacks {', '.join(named)}"


def _retyped(candidate: Candidate, params: Sequence[Param], result: TypeRef) -> Iterator[str]:
    """Yield what is not of the type that a compiler tells."""
    if not candidate.result:
        return
    known = {p.name: p.type for p in candidate.parameters}
    for name, kind in [*((p.name, p.type) for p in params), ("returns", result)]:
        wanted = candidate.result if name == "returns" else known.get(name, "")
        if not wanted:
            yield f"{name} has no plain value; leave it out"
        elif str(kind).replace("Float", "Int") != str(parse_type(wanted)).replace("Float", "Int"):
            yield f"{name} is {wanted} for the compiler, not {kind}"
    if [p.name for p in params] != [p.name for p in candidate.parameters][: len(params)]:
        yield "values go by place: only the last parameters may be left out"


def _unreadable(artifacts: Artifacts, codes: Sequence[str]) -> Iterator[str]:
    assert artifacts.spec is not None
    domain = Domain(artifacts.spec)
    checks = (
        text for claim in artifacts.claims.values() for test in claim.tests for text in (*test.assume, *test.check)
    )
    for code in (*codes, *(parse_predicate(text).code for text in checks)):
        try:
            domain.code(code)
        except NotEvaluable as fault:
            yield str(fault)


def documented(candidate: Candidate, proposal: Proposal) -> Promised | None:
    """Return the examples of a docstring as a claim; ``None`` where none of them can be evaluated."""
    tests: list[ClaimTest] = []
    for number, (source, wanted) in enumerate(candidate.examples, 1):
        call, failed = _call(candidate, proposal, source), wanted.startswith("Traceback")
        error = wanted.split("\n")[-1].partition(":")[0].rpartition(".")[2].strip() if failed else ""
        text = repr(wanted) if source.startswith("print(") else wanted
        value = "" if failed else _literal(text, parse_type(proposal.returns))
        if call and (value or error in proposal.errors):
            check = [f"shown == {value}"] if value else []
            tests.append(ClaimTest(name=f"example_{number}", steps=[f"shown = {call}"], check=check, raises=error))
    text = f"the examples in the docstring of {candidate.name} hold"
    claim = Promised(text=text, source="example", tests=tests[:6])
    return claim if tests and not proposal_fault(candidate, proposal.model_copy(update={"claims": [claim]})) else None


def _call(candidate: Candidate, proposal: Proposal, source: str) -> str | None:
    """Return the call of an example with every parameter of the proposal; ``None`` where that is not possible."""
    with suppress(SyntaxError, TypeError, AttributeError):
        call: Any = ast.parse(source, mode="eval").body
        call = call.args[0] if ast.unparse(call.func) in ("print", "list") and len(call.args) == 1 else call
        named = {word.arg: ast.unparse(word.value) for word in call.keywords if word.arg}
        held = _signature(candidate).bind(*map(ast.unparse, call.args), **named).arguments
        given = {p.name: p.default for p in candidate.parameters} | held
        values = {p.name: _literal(given[p.name], p.type) for p in map(parse_param, proposal.params)}
        if ast.unparse(call.func) == candidate.name and held.keys() <= values.keys() and all(values.values()):
            return f"{candidate.name}({', '.join(values.values())})"
    return None


def _signature(candidate: Candidate) -> Signature:
    kinds = Sign.POSITIONAL_OR_KEYWORD, Sign.KEYWORD_ONLY
    plain = [p for p in candidate.parameters if p.name.isidentifier()]
    return Signature([Sign(p.name, kinds[p.keyword], default=p.default or Sign.empty) for p in plain])


def _literal(text: str, kind: TypeRef) -> str:
    """Return a literal with tuples in place of lists, as the judge has them; empty where it is not of the type."""
    with suppress(ValueError, SyntaxError, MemoryError, RecursionError):
        value = ast.literal_eval(text)
        return repr(_frozen(value)) if _fits(value, kind) else ""
    return ""


def _fits(value: Any, kind: TypeRef) -> bool:
    """Tell whether a literal is a value of a type; types that have no literals have none."""
    args = kind.args
    if kind.name in ("Option", "Result"):
        return (value is None and kind.name == "Option") or _fits(value, args[0])
    if type(value) not in _LITERALS.get(kind.name, ()) or (kind.name == "Tuple" and len(value) != len(args)):
        return False
    if kind.name == "Map":
        return all(_fits(pair, TypeRef("Tuple", args)) for pair in value.items())
    return not args or all(map(_fits, value, args if kind.name == "Tuple" else repeat(args[0])))


def _frozen(value: Any) -> Any:
    return tuple(map(_frozen, value)) if type(value) in (list, tuple) else value


def shown(question: Question, candidate: Candidate) -> str:
    """Return a function as a model is shown it, with the types that a compiler tells, and of a class its members."""
    source = question.fence("CLASS" if candidate.members else "FUNCTION", candidate.source)
    if candidate.members:
        source += "\n\n" + question.fence("MEMBERS", "\n".join(map(_asked, candidate.members.values())))
    source += "".join(_beside(candidate))
    if not candidate.result:
        return source
    params = ", ".join(f"`{p.name}: {p.type}`" for p in candidate.parameters if p.type) or "none"
    typed = load_prompt("criticality", "adopt_typed").render(
        title=candidate.title, name=candidate.name, params=params, returns=candidate.result
    )
    if candidate.named.told:
        record = next((f"{name}({', '.join(held)})" for name, held in candidate.named.records.items()), "none here")
        typed += "\n\n" + load_prompt("criticality", "adopt_named").render(told=candidate.named.told, example=record)
    return f"{source}\n\n{typed}"


def _beside(candidate: Candidate) -> Iterator[str]:
    if candidate.lazy:
        yield "\n\n" + load_prompt("criticality", "adopt_lazy").render(first=str(PREFIX))
    if candidate.handed:
        prompt = load_prompt("criticality", "adopt_objects")
        yield "\n\n" + prompt.render(name=candidate.written or candidate.name, why=candidate.handed)
        if candidate.members:
            yield "\n\n" + load_prompt("criticality", "adopt_objects_class").render()


def _asked(member: Candidate) -> str:
    call = f"{member.name}({', '.join(p.name for p in member.parameters if p.name.isidentifier())})"
    return f"{call}: {member.refused}" if member.refused else call
