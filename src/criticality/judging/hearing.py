"""What the judge is asked and what it answers, as data that goes from one process to another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from pydantic import TypeAdapter

from criticality.judging.served import ServedProgram
from criticality.judging.values import Counts
from criticality.lattice_plan import ModulePlan
from criticality.spec.claims import StructuredClaim
from criticality.spec.spec import Spec


@dataclass(slots=True)
class Project:
    """What a project promises."""

    spec: Spec
    modules: tuple[ModulePlan, ...]
    claims: Sequence[StructuredClaim]


@dataclass(slots=True)
class Hearing(Project):
    """One unit's bodies, and all that they are judged by.

    Args:
        program: variant 0 is judged, variant 1 has the accepted bodies alone; others are compared with variant 0.
        unit: ids of the functions that are judged.
        accepted: ids of functions whose bodies stand.
        due: ids of the claims that are judged now.
        pinned: arguments by function that are always tried.
        settled: clauses by function that were settled on.
        texts: the claims in words.
        variants: of those from 2 on, what it is (``mutant``, ``independent``) and the function that it changes.
        bodies: texts by function, the one that is judged first: their constants and branches are aimed at.
        seconds: of processor time for one call.
    """

    program: ServedProgram
    unit: list[str]
    accepted: list[str]
    due: list[str] = field(default_factory=list[str])
    pinned: dict[str, list[Any]] = field(default_factory=dict[str, list[Any]])
    settled: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    texts: dict[str, str] = field(default_factory=dict[str, str])
    variants: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    counts: Counts = field(default_factory=Counts)
    bodies: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    seconds: float = 2.0


@dataclass(slots=True)
class Fault:
    """One promise that does not hold.

    Args:
        kind: ``test``, ``timeout``, ``complexity``, ``semantic`` or ``security``.
        promise: its words; ``claim ID.TEST`` for a test of a claim.
        what: one line for the model, without code.
        args: of the call, as JSON.
        outcome: how the call ended, in words.
    """

    kind: str
    function: str
    promise: str
    what: str
    args: Any = None
    outcome: str = ""
    claim: str = ""
    test: str = ""


@dataclass(slots=True)
class Guilty:
    """An accepted function that breaks its own contract."""

    function: str
    args: Any
    what: str


@dataclass(slots=True)
class Tried:
    """Another body of a function: ``rejected``, the ``same`` on all cases, or ``undecided``.

    Args:
        row: of a rejected one, which of the function's kept cases tells it apart; none where it does not build.
    """

    kind: str
    function: str
    result: str
    row: int | None = None


@dataclass(slots=True)
class Difference:
    """A case on which two bodies differ and the contract is silent.

    Args:
        shown: the arguments in words; ``first`` and ``second`` are how the calls ended.
        other: the variant; none for a body that the judge made up.
        theirs: status and value of the other body's end, as JSON.
    """

    function: str
    kind: str
    args: Any
    shown: str
    first: str
    second: str
    other: int | None
    theirs: list[Any]


@dataclass(slots=True)
class Verdict:
    """What came out.

    Args:
        cases: how many were tried.
        kept: by function, arguments, status and value of cases worth keeping, as JSON.
        measured: functions whose COMPLEXITY clause was measured.
        hardly: by function, clauses whose presupposition was true in few cases, and in how many.
        unjudged: by function, clauses that the judge could not evaluate, and why.
        presupposed: by function, in how many cases what a clause presupposes was true.
        places: by function, how many places of its body ran, and how many there are.
        sizes: by function, how many cases hold a sequence of which size.
        solved: by function, what a solver said of its body.
        seal: what the process was held by from the inside.
    """

    faults: list[Fault] = field(default_factory=list[Fault])
    guilty: Guilty | None = None
    cases: int = 0
    kept: dict[str, list[list[Any]]] = field(default_factory=dict[str, list[list[Any]]])
    tried: list[Tried] = field(default_factory=list[Tried])
    differences: list[Difference] = field(default_factory=list[Difference])
    measured: list[str] = field(default_factory=list[str])
    hardly: dict[str, dict[str, int]] = field(default_factory=dict[str, dict[str, int]])
    unjudged: dict[str, dict[str, str]] = field(default_factory=dict[str, dict[str, str]])
    presupposed: dict[str, dict[str, int]] = field(default_factory=dict[str, dict[str, int]])
    places: dict[str, list[int]] = field(default_factory=dict[str, list[int]])
    sizes: dict[str, dict[str, int]] = field(default_factory=dict[str, dict[str, int]])
    solved: dict[str, str] = field(default_factory=dict[str, str])
    seal: str = ""

    @property
    def accepted(self) -> bool:
        """Whether nothing was found so far."""
        return not self.guilty and not self.faults


PROJECT, HEARING, DIFFERENCE = TypeAdapter(Project), TypeAdapter(Hearing), TypeAdapter(Difference)
VERDICT = TypeAdapter(Verdict)
