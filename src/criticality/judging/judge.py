"""The judge at work: one unit's bodies against their contracts and claims, and against other bodies of the same."""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from typing import Any

from criticality.judging import growth
from criticality.judging.comparing import Comparing
from criticality.judging.evaluate import UNEVALUATED, Broken, ended
from criticality.judging.hearing import Fault, Guilty, Hearing, Verdict
from criticality.judging.outcomes import JudgeFailed
from criticality.judging.served import Call, Died, NoSuchValue, Outcome, Raised, Returned
from criticality.judging.shapes import spread
from criticality.judging.solving import solved
from criticality.judging.steps import calls_of
from criticality.judging.trying import CANDIDATE, alike, outcomes
from criticality.judging.values import Case, Values
from criticality.judging.wire import PLACES, Unreadable, pack, to_json
from criticality.spec.claims import ClaimTest, StructuredClaim

#: Broken promises that are told at most, and cases that are still tried after the first.
_TOLD, _AFTER = 4, 150
#: Calls' worth of time for which a body that broke one promise is still tried.
_AFTER_S = 5
#: Calls of accepted functions that are judged again, though what called them is content.
_AUDITS = 300
#: Rounds of cases in which each place of a body is to run.
_TURNS = 3


class Judge(Comparing):
    """One hearing. Use it as ``with``; the processes live as long.

    Args:
        hearing: variant 0 of its program is to be judged, variant 1 has the accepted bodies alone.
    """

    def __init__(self, hearing: Hearing) -> None:
        super().__init__(hearing)
        self._audit: set[tuple[str, bytes]] = set()
        self._audits = 0

    def heard(self) -> Verdict:
        """Return the verdict on variant 0."""
        verdict = Verdict()
        for name in self.hearing.unit:
            self._contract(name, verdict)
            if verdict.guilty or any(fault.kind == "timeout" for fault in verdict.faults):
                break
        if verdict.accepted:
            for name in self.hearing.unit:
                self._growth(name, verdict)
                self._far(name, verdict)
            for claim in self._due():
                self._claim(claim, verdict)
        for name in self.hearing.unit if verdict.accepted else ():
            self._solve(name, verdict)
        verdict.seal = self._process(CANDIDATE).seal
        return verdict

    def _contract(self, name: str, verdict: Verdict) -> None:
        """Try a function until each place of its body has run, or that comes to nothing."""
        cases, missed = self.cases(name), list[str]()
        if not cases:
            raise JudgeFailed(f"no values that fit REQUIRES of {name} could be made; say it more simply")
        self._process(CANDIDATE).call(PLACES, ())
        for turn in range(_TURNS):
            more = self.cases(name, turn=turn) if turn else cases
            if not self._tried_with(name, more, verdict):
                return
            verdict.places[name], missed = self._missed(name)
            if not missed or more[-1].origin == "all":  # what no case of all enters is dead
                missed = []
                break
        self._noted(name, cases, verdict)
        if missed:
            shown = "; ".join(f"`{text}`" for text in missed[:4])
            what = f"no case that REQUIRES admits comes to {shown}; leave out what cannot be reached"
            verdict.faults.append(Fault("semantic", name, "each part of the body is needed", f"{name}: {what}"[:600]))
        else:
            verdict.kept[name] = self._kept(name, cases, self._process(CANDIDATE))

    def _noted(self, name: str, cases: Sequence[Case], verdict: Verdict) -> None:
        """Note how a function was tried; what claims cannot be judged by is noted there later."""
        told = self.evaluator
        verdict.hardly[name], verdict.unjudged[name] = told.hardly(name), told.unjudged[name]
        verdict.presupposed[name] = {text: told.seen[name][text] for text, p in told.clauses(name).items() if p.when}
        verdict.sizes[name] = spread(case.args for case in cases)

    def _missed(self, name: str) -> tuple[list[int], list[str]]:
        """Return how many places of a body ran, how many there are, and the text of those that did not."""
        told = self._process(CANDIDATE).call(PLACES, ())
        lines = [line.partition(" ") for line in told.value] if isinstance(told, Returned) else []
        counts = [int(number) for of, _, text in lines if of == f"#{name}" for number in text.split()]
        return counts, [text for of, _, text in lines if of == name]

    def _tried_with(self, name: str, cases: Sequence[Case], verdict: Verdict) -> bool:
        """Tell whether a function keeps its word in some cases; what it breaks goes into the verdict."""
        reported: set[str] = set()
        left, broke = len(cases), 0.0
        for case, outcome in outcomes(self._process(CANDIDATE), name, cases):
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
            given_up = slow or len(reported) >= _TOLD or (reported and left <= 0)
            if verdict.guilty or isinstance(outcome, Died) or given_up:
                break
        return not reported and not verdict.guilty

    def _fault(self, name: str, args: tuple[Any, ...], outcome: Outcome, broken: Broken, verdict: Verdict) -> None:
        if calls_of(self.functions[name]) and not isinstance(outcome, Died):
            args, broken = self._shortest(name, args, broken)
        calls = [*(getattr(outcome, "trace", None) or ()), *self.evaluator.made]
        tampered = None
        with suppress(Unreadable):
            verdict.guilty = self._guilty(calls)
            tampered = next((c for c in getattr(outcome, "trace", None) or () if self._differs(c)), None)
        if tampered is not None and verdict.guilty is None:
            broken = Broken(f"{tampered.name} stays as it is", "the body changes a function that it calls")
        verdict.faults.append(
            Fault(
                kind=_kind(outcome), function=name, promise=broken.promise, what=str(broken)[:600],
                args=to_json(self.codec.request(name, args)), outcome=broken.ended or ended(outcome),
            )
        )  # fmt: skip

    def _shortest(self, name: str, args: tuple[Any, ...], broken: Broken) -> tuple[tuple[Any, ...], Broken]:
        """Return a case of a class with no call that is not needed to break the same promise."""
        for at in reversed(range(len(args[-1]))):
            fewer = (*args[:-1], (*args[-1][:at], *args[-1][at + 1 :]))
            again = self._broken(name, fewer, self._process(CANDIDATE).call(name, fewer))
            if again is not None and again.promise == broken.promise:
                args, broken = fewer, again
        return args, broken

    def _differs(self, call: Call) -> bool:
        if call.name in self._above:
            return False
        again = self._helped(call.name, call.args)
        return again is not None and not alike(again, call.outcome)

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

    def _far(self, name: str, verdict: Verdict) -> None:
        """Try numbers where their widths end; there no answer, a slow clause, or no such count says nothing."""
        known, left_off = self.functions[name].errors, self.evaluator.unjudged[name]
        before = len(left_off)
        for case, outcome in outcomes(self._process(CANDIDATE), name, self.far_cases(name)):
            lawful = isinstance(outcome, Raised) and outcome.kind in known and "sys.maxsize" not in outcome.message
            if isinstance(outcome, Returned) or lawful:
                broken = self._broken(name, case.args, outcome)
                if len(left_off) > before:
                    left_off.popitem()
                    break
                verdict.cases += 1
                if broken is not None and UNEVALUATED not in broken.promise:
                    self._fault(name, case.args, outcome, broken, verdict)
                    break

    def _solve(self, name: str, verdict: Verdict) -> None:
        """Try what a solver finds, as any other case: its word alone refuses no body."""
        told, calls = solved(self._place, self.evaluator, name)
        verdict.solved |= {name: told} if told else {}
        for args in (one for one in calls if not self.evaluator.fits(name, one)):
            verdict.cases += 1
            outcome = self._process(CANDIDATE).call(name, args)
            broken = self._broken(name, args, outcome)
            if broken is not None:
                self._fault(name, args, outcome, broken, verdict)
                break

    def _growth(self, name: str, verdict: Verdict) -> None:
        """Measure a COMPLEXITY clause; what cannot be measured is not called kept."""
        function = self.functions[name]
        degree = growth.DEGREES.get(function.contract.complexity or "")
        clause = next((line for line in function.contract.lines if line.startswith("COMPLEXITY:")), "")
        if degree is None or not clause:
            return
        params, values = function.parameters, self._values(name, 0)
        at = growth.growing(params, values, clause)
        grown = partial(values.grown, params, self.evaluator.conditions(name), [params[number].name for number in at])
        work, counted = partial(self._process(CANDIDATE).work, name), self.hearing.program.counted
        what = growth.fault(at, grown, work, degree, counted) if at else None
        verdict.measured += [name] if what is not None else []
        if what:
            verdict.faults.append(Fault("complexity", name, clause, f"{clause} does not hold: {what}"))

    def _claim_growth(self, claim: StructuredClaim, test: ClaimTest, verdict: Verdict) -> None:
        """Measure a claim on performance: the work of all calls that its steps make."""
        declared = [self.functions[name].contract.complexity or "" for name in claim.functions]
        degree = growth.DEGREES.get(growth.promised(claim, self.hearing.texts.get(claim.id, ""), declared))
        params, conditions = self.evaluator.assumed(test)
        values = Values(self.domain, self._literals, f"{claim.id}.{test.name}")
        at = growth.growing(params, values)[:1]

        def measure(args: tuple[Any, ...]) -> int | None:
            self.evaluator.made.clear()
            held = dict(zip((p.name for p in params), args, strict=True))
            if self._tested(claim, test, held, ()) is not None:
                return None
            works = [self._process(CANDIDATE).work(call.name, call.args) for call in list(self.evaluator.made)]
            return None if None in works else sum(work or 0 for work in works)

        grown = partial(values.grown, params, conditions, [params[number].name for number in at])
        what = growth.fault(at, grown, measure, degree or 0.0, self.hearing.program.counted)
        if what:
            where = f"claim {claim.id}.{test.name}"
            told = claim.id, test.name
            verdict.faults.append(Fault("complexity", self.home, where, f"{where}: {what}", None, "", *told))

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
                    kind="test", function=calls[-1].name if calls else self.home, claim=claim.id,
                    test=test.name, promise=f"claim {claim.id}.{test.name}", outcome=broken.shown,
                    args=to_json(self.codec.request(calls[-1].name, calls[-1].args)) if calls else None,
                    what=f"claim {claim.id}.{test.name}: {broken}"[:600],
                )
            )  # fmt: skip


def _kind(outcome: Outcome) -> str:
    if not isinstance(outcome, Died):
        return "test"
    if "more than" in outcome.reason or "ended by" in outcome.reason or "process ended" in outcome.reason:
        return "timeout"
    return "security" if "SIGSYS" in outcome.reason else "semantic"
