"""The accepted body against others: each is rejected, the same or undecided; a clause may settle which is right."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice

from criticality.judging.hearing import Difference, Tried, Verdict
from criticality.judging.served import Died, Outcome, Raised, Returned
from criticality.judging.trying import CANDIDATE, HELPERS, CallOne, Trial, alike, outcomes
from criticality.judging.values import Case
from criticality.judging.wire import from_json, to_json

#: Cases by which other bodies are rejected that are kept of a function.
KILLING = 200


class Comparing(Trial):
    """A trial whose variants from 2 on are other bodies of the same functions."""

    def compared(self) -> Verdict:
        """Compare variant 0, which was accepted, with those from 2 on: each is rejected, the same, or undecided."""
        verdict = Verdict()
        for name in self.hearing.unit:
            cases = self.cases(name)
            mine = [outcome for _, outcome in outcomes(self._process(CANDIDATE), name, cases)]
            pairs = list(zip(cases, mine, strict=False))
            places: dict[int, int] = {}
            others: list[tuple[str, str, CallOne | int]] = [
                (kind, function, number) for number, (kind, function) in enumerate(self.hearing.variants, start=2)
            ]
            others += [("lazy", name, lazy) for lazy in self._lazy(name, pairs)]
            for kind, function, other in others:
                if function == name:
                    tried, at = self._tried(name, pairs, other)
                    row = places.setdefault(at, len(places)) if at is not None and tried == "rejected" else None
                    verdict.tried.append(Tried(kind, name, tried, row))
                    if at is not None and tried == "undecided":
                        verdict.differences.append(self._difference(name, kind, pairs[at], other))
            verdict.kept[name] = [self._row(name, *pairs[at]) for at in list(places)[:KILLING]]
        return verdict

    def _tried(self, name: str, pairs: Sequence[tuple[Case, Outcome]], other: CallOne | int) -> tuple[str, int | None]:
        """Tell whether another body is ``rejected``, the ``same`` or ``undecided``, and which case shows it.

        Of the cases on which a rejected one differs it is the one that is written in the fewest words.
        """
        differing: list[int] = []
        cases = [case for case, _ in pairs]
        self._current = other
        try:
            if other in self._place.unbuilt:
                return "rejected", None
            process = self._process(other) if isinstance(other, int) else other
            for at, (case, outcome) in enumerate(outcomes(process, name, cases)):
                if not alike(outcome, pairs[at][1]):
                    differing.append(at)
                    if self._broken(name, case.args, outcome) is not None:
                        break
            else:
                if not differing:
                    return "same", None
                if not self._refuted():
                    return "undecided", differing[0]
            return "rejected", min(differing, key=lambda at: len(repr(pairs[at])))
        finally:
            self._current = CANDIDATE
            if isinstance(other, int) and other > HELPERS and other in self._processes:
                self._processes.pop(other).close()

    def _refuted(self) -> bool:
        """Tell whether the body that is tried breaks a claim."""
        tests = ((claim, test) for claim in self._due() for test in claim.tests)
        return any(
            self._tested(claim, test, held, turns) is not None
            for claim, test in tests
            for held, turns in self._held(claim, test)
        )

    def _difference(self, name: str, kind: str, pair: tuple[Case, Outcome], other: CallOne | int) -> Difference:
        case, mine = pair
        theirs = self._process(other).call(name, case.args) if isinstance(other, int) else other(name, case.args)
        assert theirs is not None
        shown, first, second = self.evaluator.parted(name, case.args, mine, theirs)
        return Difference(
            function=name, kind=kind, args=to_json(self.codec.request(name, case.args)),
            shown=shown, first=first, second=second, other=other if isinstance(other, int) else None,
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
        for number, (which, outcome) in enumerate((("first", mine), ("second", theirs))):
            wrong = self.evaluator.broken(name, args, outcome) is not None
            if wrong != (loser in (number, 2)):
                return f"the clause {'rejects' if wrong else 'allows'} the {which} result, which it should not"
        if loser == 1:
            for case, outcome in outcomes(self._process(CANDIDATE), name, self.cases(name)):
                broken = self.evaluator.broken(name, case.args, outcome)
                if broken is not None:
                    return f"elsewhere the clause rejects the result that is right: {broken.shown}"[:400]
        return ""

    def _told(self, name: str, difference: Difference) -> Outcome:
        status, value = from_json(difference.theirs)
        if status == 0:
            return Returned(self.codec.result(name, value))
        return Raised(str(value[0]), str(value[1])) if status == 1 else Died(str(value))

    def _lazy(self, name: str, pairs: Sequence[tuple[Case, Outcome]]) -> Iterator[CallOne]:
        """Yield bodies that look at nothing: they return an argument or a first result, or raise an error."""
        function = self.functions[name]
        for at, param in enumerate(function.parameters):
            if str(param.type) == str(function.result):
                yield (lambda called, args, at=at: Returned(args[at]) if called == name else self._called(called, args))
        constants = {repr(o.value): o for _, o in pairs if isinstance(o, Returned)}
        for constant in [*islice(constants.values(), 2), *(Raised(e, "") for e in sorted(function.errors))]:
            yield lambda called, args, o=constant: o if called == name else self._called(called, args)
