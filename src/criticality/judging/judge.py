"""The judge at work: one unit's bodies against their contracts and claims, and against other bodies of the same."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from itertools import islice, pairwise
from typing import Any, Self

from criticality.judging import growth
from criticality.judging.domain import Domain
from criticality.judging.evaluate import Broken, Evaluator, Gone, Postponed, ended, short
from criticality.judging.hearing import Difference, Fault, Guilty, Hearing, Tried, Verdict
from criticality.judging.served import Call, Died, NoSuchValue, Outcome, Place, Process, Raised, Returned
from criticality.judging.values import Case, Counts, Values
from criticality.judging.wire import LINES, Codec, Unreadable, from_json, pack, same, to_json
from criticality.lattice_plan import ModulePlan, index
from criticality.spec.claims import ClaimTest, StructuredClaim
from criticality.spec.literals import literals_of
from criticality.spec.predicates import parse_predicate
from criticality.spec.spec import Spec
from criticality.spec.types import parse_param

#: What is wrong throughout falls in the first calls, however long each takes.
_FIRST, _BATCH = 4, 64
#: Broken promises that are told at most, and cases that are still tried after the first.
_TOLD, _AFTER = 4, 150
#: Calls' worth of time for which a body that broke one promise is still tried.
_AFTER_S = 5
_KEPT = 40
#: Calls of accepted functions that are judged again, though what called them is content.
_AUDITS = 300
CANDIDATE, HELPERS = 0, 1
_CallOne = Callable[[str, tuple[Any, ...]], Outcome | None]


class Judge:
    """One hearing. Use it as ``with``; the processes live as long.

    Args:
        hearing: variant 0 of its program is to be judged, variant 1 has the accepted bodies alone.
    """

    def __init__(self, hearing: Hearing) -> None:
        self.hearing = hearing
        self.spec = Spec.model_validate(hearing.spec)
        self.plan = tuple(ModulePlan.model_validate(module) for module in hearing.modules)
        self.functions = {name: function for name, (_, function) in index(self.plan).items()}
        self.claims = [StructuredClaim.model_validate(claim) for claim in hearing.claims]
        self.domain = Domain(self.spec)
        self.codec = Codec(self.domain, self.plan)
        self.evaluator = Evaluator(self.domain, self.functions, self._called)
        for name, clauses in hearing.settled.items():
            self.evaluator.settle(name, clauses)
        self._above = self._callers(set(hearing.unit))
        self._literals = literals_of([f.contract for f in self.functions.values()], self.claims)
        self._audit: set[tuple[str, bytes]] = set()
        self._audits = 0
        self._open = ExitStack()
        self._processes: dict[int, Process] = {}
        self._memory: dict[tuple[str, bytes], Outcome] = {}
        self._current: _CallOne | int = CANDIDATE
        self._results: dict[str, list[Any]] | None = None

    def __enter__(self) -> Self:
        hearing = self.hearing
        self._place = self._open.enter_context(
            Place(hearing.program, self.codec, limit=hearing.seconds, isolated=hearing.isolated)
        )
        self._place.build()
        return self

    def __exit__(self, *exc: object) -> None:
        self._open.close()

    def _callers(self, touched: set[str]) -> set[str]:
        """Return the functions that rest on some: where those are tried, these are tried with them."""
        while more := {n for n, f in self.functions.items() if n not in touched and touched.intersection(f.calls)}:
            touched |= more
        return touched

    def heard(self) -> Verdict:
        """Return the verdict on variant 0."""
        verdict = Verdict()
        for name in self.hearing.unit:
            self._contract(name, verdict)
            if verdict.guilty or any(fault.kind == "timeout" for fault in verdict.faults):
                break
        if not verdict.guilty and not verdict.faults:
            for name in self.hearing.unit:
                self._growth(name, verdict)
            for claim in self._due():
                self._claim(claim, verdict)
        verdict.seal = self._process(CANDIDATE).seal
        return verdict

    def cases(self, name: str, counts: Counts | None = None) -> list[Case]:
        """Return what a function is tried with; those that were pinned come first."""
        codec, kinds = self.codec, [(p.name, p.type) for p in self.functions[name].parameters]
        pinned = [
            args for args, _, _ in codec.cases(name, [(p, 1, [""]) for p in self.hearing.pinned.get(name, ())])
        ]
        values = Values(self.domain, self._literals, name, self._known_results(name))
        return list(values.cases(kinds, self.evaluator.conditions(name), pinned, counts or self.hearing.counts))

    def _contract(self, name: str, verdict: Verdict) -> None:
        cases = self.cases(name)
        if not cases:
            verdict.faults.append(
                Fault(kind="test", function=name, promise="REQUIRES", what="no values fit REQUIRES")
            )
            return
        reported: set[str] = set()
        left = len(cases)
        process = self._process(CANDIDATE)
        broke = 0.0
        for case, outcome in _outcomes(process, name, cases):
            left -= 1
            if isinstance(outcome, NoSuchValue):
                continue
            verdict.cases += 1
            broken = self._broken(name, case.args, outcome)
            if broken is not None and broken.promise not in reported:
                reported.add(broken.promise)
                broke = broke or time.monotonic()
                left = min(left, _AFTER)
                self._fault(name, case.args, outcome, broken, verdict)
            elif broken is None:
                verdict.guilty = self._audited([*(getattr(outcome, "trace", None) or ()), *self.evaluator.made])
            slow = bool(reported) and time.monotonic() - broke > _AFTER_S * self.hearing.seconds
            if (
                verdict.guilty
                or isinstance(outcome, Died)
                or (reported and left <= 0)
                or slow
                or len(reported) >= _TOLD
            ):
                return
        if not reported:
            verdict.kept[name] = self._kept(name, cases, process)

    def _broken(self, name: str, args: tuple[Any, ...], outcome: Outcome) -> Broken | None:
        """Return what a call breaks: its own contract, or what a function that it calls requires."""
        if isinstance(outcome, NoSuchValue):
            return None
        self.evaluator.made.clear()
        try:
            broken = self.evaluator.broken(name, args, outcome)
        except Postponed:
            return None
        except Gone as gone:
            return Broken("its contract can be evaluated", str(gone))
        if broken is not None or isinstance(outcome, Died | NoSuchValue):
            return broken
        for call in outcome.trace or ():
            try:
                part = self.evaluator.conditions(call.name) and self.evaluator.fits(call.name, call.args)
            except Unreadable as fault:
                return Broken("an answer", str(fault))
            if part:
                values = ", ".join(map(short, call.args))
                return Broken(f"REQUIRES of {call.name}: {part}", f"a call with {values}")
        return None

    def _fault(self, name: str, args: tuple[Any, ...], outcome: Outcome, broken: Broken, verdict: Verdict) -> None:
        calls = [*(getattr(outcome, "trace", None) or ()), *self.evaluator.made]
        try:
            verdict.guilty = self._guilty(calls)
            tampered = next((c for c in getattr(outcome, "trace", None) or () if self._differs(c)), None)
        except Unreadable:
            tampered = None
        if tampered is not None and verdict.guilty is None:
            broken = Broken(f"{tampered.name} stays as it is", "the body changes a function that it calls")
        verdict.faults.append(
            Fault(
                kind=_kind(outcome), function=name, promise=broken.promise, what=str(broken)[:600],
                args=to_json(self.codec.request(name, args)), outcome=ended(outcome),
            )
        )  # fmt: skip

    def _differs(self, call: Call) -> bool:
        if call.name in self._above:
            return False
        again = self._helped(call.name, call.args)
        return again is not None and not _same(again, call.outcome)

    def _audited(self, calls: Sequence[Call]) -> Guilty | None:
        """Return an accepted function that breaks its contract, though what called it is content."""
        for call in calls:
            if self._audits >= _AUDITS or call.name in self._above:
                continue
            key = call.name, pack(self.codec.request(call.name, call.args))
            if key not in self._audit:
                self._audit.add(key)
                self._audits += 1
                made, self.evaluator.made = self.evaluator.made, []
                guilty = self._guilty([call])
                self.evaluator.made = made
                if guilty is not None:
                    return guilty
        return None

    def _guilty(self, calls: Sequence[Call], depth: int = 0) -> Guilty | None:
        """Return the accepted function, deepest first, that breaks its own contract in one of some calls."""
        for call in calls:
            if call.name in self.hearing.unit or call.name not in self.hearing.accepted:
                continue
            outcome = self._called(call.name, call.args)
            if outcome is None or self.evaluator.fits(call.name, call.args):
                continue
            below = self._guilty(getattr(outcome, "trace", None) or (), depth + 1) if depth < 12 else None
            if below is not None:
                return below
            broken = self.evaluator.broken(call.name, call.args, outcome)
            if broken is not None:
                args = to_json(self.codec.request(call.name, call.args))
                return Guilty(function=call.name, args=args, what=str(broken)[:600])
        return None

    def _growth(self, name: str, verdict: Verdict) -> None:
        """Measure a COMPLEXITY clause; what cannot be measured is not called kept."""
        function = self.functions[name]
        degree = growth.DEGREES.get(function.contract.complexity or "")
        clause = next((line for line in function.contract.lines if line.startswith("COMPLEXITY:")), "")
        if degree is None or not clause:
            return
        kinds = [(p.name, p.type) for p in function.parameters]
        values = Values(self.domain, self._literals, name)
        at = growth.growing(kinds, values, clause)
        what = growth.fault(
            kinds, at, self.evaluator.conditions(name), values,
            lambda args: self._process(CANDIDATE).work(name, args), degree, self.hearing.program.counted,
        ) if at else None  # fmt: skip
        if what is not None:
            verdict.measured.append(name)
        if what:
            verdict.faults.append(Fault("complexity", name, clause, f"{clause} does not hold: {what}"))

    def _claim_growth(self, claim: StructuredClaim, test: ClaimTest, verdict: Verdict) -> None:
        """Measure a claim on performance: the work of all calls that its steps make."""
        declared = [self.functions[name].contract.complexity or "" for name in claim.functions]
        degree = growth.DEGREES.get(growth.promised(claim, self.hearing.texts.get(claim.id, ""), declared))
        kinds = [(p.name, p.type) for p in map(parse_param, test.variables)]
        values = Values(self.domain, self._literals, f"{claim.id}.{test.name}")
        at = growth.growing(kinds, values)[:1]

        def measure(args: tuple[Any, ...]) -> int | None:
            self.evaluator.made.clear()
            held = dict(zip((name for name, _ in kinds), args, strict=True))
            if self._tested(claim, test, held, ()) is not None:
                return None
            works = [self._process(CANDIDATE).work(call.name, call.args) for call in list(self.evaluator.made)]
            return None if None in works else sum(work or 0 for work in works)

        conditions = [self.evaluator.condition(parse_predicate(text).code) for text in test.assume]
        what = growth.fault(kinds, at, conditions, values, measure, degree or 0.0, self.hearing.program.counted)
        if what:
            where = f"claim {claim.id}.{test.name}"
            verdict.faults.append(
                Fault("complexity", self.hearing.unit[0], where, f"{where}: {what}", claim=claim.id, test=test.name)
            )

    def _due(self) -> list[StructuredClaim]:
        return [claim for claim in self.claims if claim.id in self.hearing.due]

    def _claim(self, claim: StructuredClaim, verdict: Verdict) -> None:
        for test in claim.tests:
            broken = None
            for held, turns in self._held(claim, test):
                self.evaluator.made.clear()
                verdict.cases += 1
                broken = self._tested(claim, test, held, turns)
                if broken is not None:
                    break
            if broken is None:
                if claim.type == "performance" and not verdict.guilty:
                    self._claim_growth(claim, test, verdict)
                continue
            verdict.guilty = verdict.guilty or self._guilty(list(self.evaluator.made))
            calls = [c for c in self.evaluator.made if c.name in self.hearing.unit]
            others = [c for c in self.evaluator.made if c.name in claim.functions]
            if verdict.guilty is None and others and not set(claim.functions) & set(self.hearing.unit):
                # The unit only looks at what the claim is about, and keeps its own contract.
                args = to_json(self.codec.request(others[-1].name, others[-1].args))
                verdict.guilty = Guilty(others[-1].name, args, f"claim {claim.id}.{test.name}: {broken}"[:600])
            verdict.faults.append(
                Fault(
                    kind="test", function=calls[-1].name if calls else self.hearing.unit[0], claim=claim.id,
                    test=test.name, promise=f"claim {claim.id}.{test.name}", outcome=broken.shown,
                    args=to_json(self.codec.request(calls[-1].name, calls[-1].args)) if calls else None,
                    what=f"claim {claim.id}.{test.name}: {broken}"[:600],
                )
            )  # fmt: skip

    def _held(self, claim: StructuredClaim, test: ClaimTest) -> Iterator[tuple[dict[str, Any], Sequence[int]]]:
        params = [parse_param(variable) for variable in test.variables]
        conditions = [self.evaluator.condition(parse_predicate(text).code) for text in test.assume]
        values = Values(self.domain, self._literals, f"{claim.id}.{test.name}")
        counts = self.hearing.counts
        fewer = Counts(counts.small // 2, counts.text // 2, counts.drawn // 2)
        for case in values.cases([(p.name, p.type) for p in params], conditions, (), fewer):
            turns = [values.random.randrange(3) for _ in range(12)] if claim.type == "concurrent" else ()
            yield dict(zip((p.name for p in params), case.args, strict=True)), turns

    def _tested(
        self, claim: StructuredClaim, test: ClaimTest, held: dict[str, Any], turns: Sequence[int]
    ) -> Broken | None:
        try:
            return self.evaluator.test(claim.type, test, held, turns)
        except Postponed:
            return None
        except Gone as gone:
            return Broken("an answer", str(gone))

    def covered(self) -> float | None:
        """Return the share of the sources' lines that run when the unit is tried with few cases."""
        process = self._process(CANDIDATE)
        if not isinstance(process.call(LINES, ()), Returned):
            return None
        for name in self.hearing.unit:
            for _ in _outcomes(process, name, self.cases(name, Counts(80, 80, 40))):
                pass
        lines = process.call(LINES, ())
        if not isinstance(lines, Returned) or not lines.value[1]:
            return None
        return lines.value[0] / lines.value[1]

    def compared(self, kinds: Sequence[str]) -> Verdict:
        """Compare variant 0, which was accepted, with those from 2 on: each is rejected, the same, or undecided."""
        verdict = Verdict()
        for name in self.hearing.unit:
            cases = self.cases(name)
            mine = [outcome for _, outcome in _outcomes(self._process(CANDIDATE), name, cases)]
            pairs = list(zip(cases, mine, strict=False))
            places: dict[int, None] = {}
            others: list[tuple[str, str, _CallOne | int]] = [
                (kind, function, number) for number, (kind, function) in enumerate(self.hearing.variants, start=2)
            ]
            others += [("lazy", name, lazy) for lazy in self._lazy(name, pairs)]
            for kind, function, other in others:
                if function == name and kind in kinds:
                    tried, at = self._tried(name, pairs, other)
                    verdict.tried.append(Tried(kind=kind, function=name, result=tried))
                    if at is not None and tried == "rejected":
                        places[at] = None
                    if at is not None and tried == "undecided":
                        verdict.differences.append(self._difference(name, kind, pairs[at], other))
            verdict.kept[name] = [self._row(name, *pairs[at]) for at in list(places)[:_KEPT]]
        return verdict

    def _tried(
        self, name: str, pairs: Sequence[tuple[Case, Outcome]], other: _CallOne | int
    ) -> tuple[str, int | None]:
        """Tell whether another body is ``rejected``, the ``same`` or ``undecided``, and which case shows it."""
        first: int | None = None
        cases = [case for case, _ in pairs]
        self._current = other
        try:
            if other in self._place.unbuilt:
                return "rejected", None
            process = self._process(other) if isinstance(other, int) else other
            for at, (case, outcome) in enumerate(_outcomes(process, name, cases)):
                if _same(outcome, pairs[at][1]):
                    continue
                if self._broken(name, case.args, outcome) is not None:
                    return "rejected", at
                first = at if first is None else first
            if first is None:
                return "same", None
            for claim in self._due():
                for test in claim.tests:
                    for held, turns in self._held(claim, test):
                        if self._tested(claim, test, held, turns) is not None:
                            return "rejected", None
            return "undecided", first
        finally:
            self._current = CANDIDATE
            if isinstance(other, int) and other > HELPERS and other in self._processes:
                self._processes.pop(other).close()

    def _difference(self, name: str, kind: str, pair: tuple[Case, Outcome], other: _CallOne | int) -> Difference:
        case, mine = pair
        theirs = self._process(other).call(name, case.args) if isinstance(other, int) else other(name, case.args)
        assert theirs is not None
        params = self.functions[name].parameters
        return Difference(
            function=name, kind=kind, args=to_json(self.codec.request(name, case.args)),
            shown=", ".join(f"{p.name}={value!r}" for p, value in zip(params, case.args, strict=True))[:2000],
            first=ended(mine), second=ended(theirs), other=other if isinstance(other, int) else None,
            theirs=self._row(name, case, theirs)[1:],
        )  # fmt: skip

    def clause_fault(self, difference: Difference, clause: str, loser: int) -> str:
        """Tell why a clause does not settle a difference; empty where it does.

        Args:
            loser: 0 where the accepted body is to be rejected by it, 1 where the other is, 2 where both are.
        """
        name = difference.function
        try:
            self.evaluator.settle(name, [*self.hearing.settled.get(name, ()), clause])
        except ValueError as fault:
            return str(fault)
        args = self.codec.arguments(name, from_json(difference.args))
        mine, theirs = self._process(CANDIDATE).call(name, args), self._told(name, difference)
        for number, outcome in enumerate((mine, theirs)):
            wrong = self.evaluator.broken(name, args, outcome) is not None
            if wrong != (loser in (number, 2)):
                which = ("first", "second")[number]
                return f"the clause {'rejects' if wrong else 'allows'} the {which} result, which it should not"
        if loser == 1:
            for case, outcome in _outcomes(self._process(CANDIDATE), name, self.cases(name)):
                broken = self.evaluator.broken(name, case.args, outcome)
                if broken is not None:
                    return f"elsewhere the clause rejects the result that is right: {broken.shown}"[:400]
        return ""

    def _told(self, name: str, difference: Difference) -> Outcome:
        status, value = from_json(difference.theirs)
        if status == 0:
            return Returned(self.codec.result(name, value))
        return Raised(str(value[0]), str(value[1])) if status == 1 else Died(str(value))

    def _lazy(self, name: str, pairs: Sequence[tuple[Case, Outcome]]) -> Iterator[_CallOne]:
        """Yield bodies without thought: an argument, the first results, each error."""
        function = self.functions[name]
        for at, param in enumerate(function.parameters):
            if str(param.type) == str(function.result):
                yield (
                    lambda called, args, at=at: Returned(args[at]) if called == name else self._called(called, args)
                )
        constants = {repr(o.value): o for _, o in pairs if isinstance(o, Returned)}
        for constant in [*islice(constants.values(), 2), *(Raised(e, "") for e in sorted(function.errors))]:
            yield lambda called, args, o=constant: o if called == name else self._called(called, args)

    def _called(self, name: str, args: tuple[Any, ...]) -> Outcome | None:
        """Answer a call that an evaluation makes: the unit's own functions by the body that is tried."""
        if name not in self._above:
            return self._helped(name, args)
        if name not in self.hearing.unit and name not in self.hearing.accepted:
            return None
        if isinstance(self._current, int):
            return self._process(self._current).call(name, args)
        return self._current(name, args)

    def _helped(self, name: str, args: tuple[Any, ...]) -> Outcome | None:
        """Answer by an accepted body, in a process where no other body has been."""
        if name not in self.hearing.accepted:
            return None
        key = name, pack(self.codec.request(name, args))
        if key not in self._memory:
            self._memory[key] = self._process(HELPERS).call_packed(*key)
        return self._memory[key]

    def _known_results(self, name: str) -> dict[str, list[Any]]:
        """Return results of accepted functions by type, for those types that a function takes."""
        wanted = {str(p.type) for p in self.functions[name].parameters}
        known: dict[str, list[Any]] = {}
        for other, function in self.functions.items():
            if other in self.hearing.accepted and str(function.result) in wanted:
                for case in self.cases_of_helper(other):
                    outcome = self._helped(other, case.args)
                    if isinstance(outcome, Returned) and outcome.value not in known.setdefault(
                        str(function.result), []
                    ):
                        known[str(function.result)].append(outcome.value)
        return known

    def cases_of_helper(self, name: str) -> list[Case]:
        """Return a few cases of an accepted function, whose results others are tried with."""
        kinds = [(p.name, p.type) for p in self.functions[name].parameters]
        values = Values(self.domain, self._literals, name)
        return list(values.cases(kinds, self.evaluator.conditions(name), (), Counts(20, 0, 20)))

    def _kept(self, name: str, cases: Sequence[Case], process: Process) -> list[list[Any]]:
        """Return cases with their results, spread over all that were tried; long ones are left out."""
        short_ones = [case for case in cases if case.origin != "long"]
        chosen = short_ones[:: max(1, len(short_ones) // _KEPT)][:_KEPT]
        ended = _outcomes(process, name, chosen)
        return [self._row(name, case, outcome) for case, outcome in ended if not isinstance(outcome, NoSuchValue)]

    def _row(self, name: str, case: Case, outcome: Outcome) -> list[Any]:
        args = to_json(self.codec.request(name, case.args))
        match outcome:
            case Returned(value=value):
                return [args, 0, to_json(self.codec.out(value, self.functions[name].result))]
            case Raised(kind=kind, message=message):
                return [args, 1, [kind, message]]
            case Died(reason=reason) | NoSuchValue(reason=reason):
                return [args, 2, reason]

    def _process(self, variant: int) -> Process:
        if variant not in self._processes:
            self._processes[variant] = self._place.serve(variant)
            self._open.callback(self._processes[variant].close)
        return self._processes[variant]


def _outcomes(process: Process | _CallOne, name: str, cases: Sequence[Case]) -> Iterator[tuple[Case, Outcome]]:
    """Yield how each case ends, up to a death; a batch is finished before any of it is looked at."""
    starts = [0, *range(_FIRST, len(cases), _BATCH)]
    for start, end in pairwise([*starts, len(cases)]):
        batch = cases[start:end]
        if isinstance(process, Process):
            outcomes = list(process.call_many((name, case.args) for case in batch))
        else:
            outcomes = [outcome for case in batch if (outcome := process(name, case.args)) is not None]
        yield from zip(batch, outcomes, strict=False)
        if outcomes and isinstance(outcomes[-1], Died):
            return


def _same(one: Outcome, other: Outcome) -> bool:
    match one, other:
        case Returned(value=first), Returned(value=second):
            return same(first, second)
        case Raised(kind=first), Raised(kind=second):
            return first == second
        case (NoSuchValue(), _) | (_, NoSuchValue()):
            return True
        case _:
            return False


def _kind(outcome: Outcome) -> str:
    if not isinstance(outcome, Died):
        return "test"
    if "more than" in outcome.reason or "ended by" in outcome.reason or "process ended" in outcome.reason:
        return "timeout"
    return "security" if "SIGSYS" in outcome.reason else "semantic"
