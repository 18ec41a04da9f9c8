"""A unit's bodies in sealed processes: what they are tried with, how each case ends, and what that breaks."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, suppress
from dataclasses import replace
from itertools import pairwise
from typing import Any, Self

from criticality.judging.domain import Domain
from criticality.judging.evaluate import Broken, Evaluator, Gone, Postponed, short
from criticality.judging.hearing import Hearing
from criticality.judging.patience import UNJUDGED, WHY
from criticality.judging.served import Died, NoSuchValue, Outcome, Place, Process, Raised, Returned
from criticality.judging.steps import calls_of
from criticality.judging.values import Case, Counts, Values
from criticality.judging.wire import Codec, Unreadable, array, pack, same, to_json
from criticality.order import resting_on
from criticality.spec.claims import ClaimTest, StructuredClaim
from criticality.spec.literals import literals_of
from criticality.spec.types import TypeRef

#: What is wrong throughout falls in the first calls, however long each takes.
_FIRST, _BATCH = 4, 64
#: Items of a long value where a contract asks other functions about each of them.
_ASKED = 64
#: Bytes of a result that others are tried with: of a longer one right bodies may make more than an answer can hold.
_HANDED_ON = 4 << 10
#: Cases that are kept of a function.
KEPT = 40
CANDIDATE, HELPERS = 0, 1
#: What makes numbers of many digits: a product without a constant, a power, a shift.
_GROWS = re.compile(r"""(?:\b[A-Za-z_]\w*|[)\]"'])\s*\*=?\s*[A-Za-z_("'&]|\*\*|<<|\b[pP]ow\b""")
#: How often calls are gathered before a clause is evaluated, and how many are worth it.
_ROUNDS, _WORTH = 2, 4
CallOne = Callable[[str, tuple[Any, ...]], Outcome | None]


class Trial:
    """One hearing. Use it as ``with``; the processes live as long.

    Args:
        hearing: variant 0 of its program is to be judged, variant 1 has the accepted bodies alone.
    """

    def __init__(self, hearing: Hearing) -> None:
        self.hearing = hearing
        self.claims, self.domain = hearing.claims, Domain(hearing.spec)
        #: What a fault of a claim alone is of; nothing where no function is looked at.
        self.home = next(iter(hearing.unit), "")
        self.codec = Codec(self.domain, hearing.modules)
        self.functions = self.codec.functions
        self.evaluator = Evaluator(self.domain, self.functions, self._called, self._foresee)
        for name, clauses in hearing.settled.items():
            self.evaluator.settle(name, clauses)
        #: What rests on the unit: where that is tried, these are tried with it.
        self._above = resting_on({name: f.calls for name, f in self.functions.items()}, hearing.unit)
        self._literals = literals_of([f.contract for f in self.functions.values()], self.claims)
        self._open = ExitStack()
        self._processes: dict[int, Process] = {}
        self._memory: dict[tuple[str, bytes], Outcome] = {}
        #: How accepted functions ended last; and calls of them that are only guessed, while they are gathered.
        self._last: dict[str, Outcome] = {}
        self._wanted: dict[tuple[str, bytes], None] | None = None
        #: Values that a contract asks about again and again, and their bytes.
        self._packed: dict[int, tuple[Any, bytes]] = {}
        self._current: CallOne | int = CANDIDATE

    def __enter__(self) -> Self:
        hearing = self.hearing
        self._place = self._open.enter_context(Place(hearing.program, self.codec, limit=hearing.seconds))
        self._place.build()
        return self

    def __exit__(self, *exc: object) -> None:
        self._open.close()

    def cases(self, name: str, turn: int = 0) -> list[Case]:
        """Return what a function is tried with; those that were pinned come first.

        Args:
            turn: others for each number.
        """
        rows = [(p, 1, [""]) for p in self.hearing.pinned.get(name, ())]
        pinned = [args for args, _, _ in self.codec.cases(name, rows)]
        few = self._asks(name) or calls_of(self.functions[name])
        counts = replace(self.hearing.counts, longest=_ASKED if few else self.hearing.program.longest)
        values, params = self._values(name, turn), self.functions[name].parameters
        return list(values.cases(params, self.evaluator.conditions(name), pinned, counts))

    def far_cases(self, name: str) -> list[Case]:
        """Return cases of numbers where their widths end; none where what is computed of them may go beyond."""
        function, bits = self.functions[name], self.hearing.program.bits
        texts = [line for line in function.contract.lines if line.startswith(("ENSURES", "INVARIANT"))]
        grows = any(_GROWS.search(text) for text in (*texts, *self.hearing.bodies.get(name, ())[:1]))
        if bits and (function.calls or grows):
            return []
        return list(self._values(name, 0).far_cases(function.parameters, self.evaluator.conditions(name), bits))

    def _values(self, name: str, turn: int) -> Values:
        bodies = self.hearing.bodies.get(name, ())
        # Constants of functions that have nothing to do with it would only thin out its own.
        near = [other for other, f in self.functions.items() if other in self.functions[name].calls or name in f.calls]
        contracts = [self.functions[one].contract for one in (name, *near)]
        literals = literals_of(contracts, self.claims, "\n".join(bodies))
        # Clauses of what it calls often speak of the same parameter by the same name.
        clauses = [p.code for one in (name, *self.functions[name].calls) for p in self.evaluator.clauses(one).values()]
        led = (*bodies[: 1 + bool(turn) * 9], *clauses)
        values = Values(self.domain, literals, f"{name}{turn or ''}", self._known_results(name), led)
        values.calls = calls_of(self.functions[name])
        return values

    def _known_results(self, name: str) -> dict[str, list[Any]]:
        """Return results of accepted functions by type, for those types that a function takes."""
        wanted = {str(p.type) for p in self.functions[name].parameters}
        known: dict[str, list[Any]] = {}
        for other, function in self.functions.items():
            if other in self.hearing.accepted and str(function.result) in wanted:
                held, few = known.setdefault(str(function.result), []), Counts(20, 0, 20, 200, 0)
                values = Values(self.domain, self._literals, other)
                for case in values.cases(function.parameters, self.evaluator.conditions(other), (), few):
                    outcome = self._helped(other, case.args)
                    if isinstance(outcome, Returned) and outcome.value not in held:
                        held += [outcome.value] * (len(self._bytes(outcome.value, function.result)) <= _HANDED_ON)
        return known

    def _broken(self, name: str, args: tuple[Any, ...], outcome: Outcome) -> Broken | None:
        """Return what a call breaks: its own contract, or what a function that it calls requires."""
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
                return Broken(f"REQUIRES of {call.name}: {part}", f"a call with {', '.join(map(short, call.args))}")
        return None

    def _due(self) -> list[StructuredClaim]:
        return [claim for claim in self.claims if claim.id in self.hearing.due]

    def _held(self, claim: StructuredClaim, test: ClaimTest) -> Iterator[tuple[dict[str, Any], Sequence[int]]]:
        params, conditions = self.evaluator.assumed(test)
        values = Values(self.domain, self._literals, f"{claim.id}.{test.name}")
        counts = self.hearing.counts
        fewer = Counts(counts.small // 2, counts.text // 2, counts.drawn // 2, counts.whole // 10, 6)
        for case in values.cases(params, conditions, (), fewer):
            turns = [values.random.randrange(3) for _ in range(12)] if claim.type == "concurrent" else ()
            yield dict(zip((p.name for p in params), case.args, strict=True)), turns

    def _tested(
        self, claim: StructuredClaim, test: ClaimTest, held: dict[str, Any], turns: Sequence[int]
    ) -> Broken | None:
        unjudged, where = self.evaluator.unjudged[self.home], f"claim {claim.id}.{test.name}"
        try:
            return self.evaluator.test(claim.type, test, held, turns) if where not in unjudged else None
        except Postponed:
            return None
        except UNJUDGED as why:
            unjudged[where] = WHY[type(why)]
            return None
        except Gone as gone:
            return Broken("an answer", str(gone))

    def _asks(self, name: str) -> bool:
        """Tell whether a function's contract calls accepted ones for each of several things."""
        short = {other.partition(".")[2] for other in self.hearing.accepted}
        return any(p.calls & short and " for " in p.code for p in self.evaluator.clauses(name).values())

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
        params = self.functions[name].parameters
        key = name, array([self._bytes(value, p.type) for value, p in zip(args, params, strict=True)])
        if key not in self._memory and self._wanted is not None:
            self._wanted[key] = None
            return self._last.get(name)
        if key not in self._memory:
            outcome = self._process(HELPERS).call_packed(*key)
            again = isinstance(outcome, Died) and outcome.from_outside
            self._memory[key] = self._process(HELPERS).call_packed(*key) if again else outcome
        self._last[name] = self._memory[key]
        return self._memory[key]

    def _foresee(self, evaluate: Callable[[], Any]) -> None:
        """Have the calls answered in one go that an evaluation will make, guessing that each ends as the last one."""
        made = len(self.evaluator.made)
        for _ in range(_ROUNDS):
            self._wanted = {}
            with suppress(Exception):  # what was only guessed may be wrong
                evaluate()
            wanted, self._wanted = list(self._wanted), None
            del self.evaluator.made[made:]
            answers = self._process(HELPERS).call_many_packed(wanted if len(wanted) >= _WORTH else ())
            told = {key: o for key, o in zip(wanted, answers, strict=False) if not isinstance(o, Died)}
            self._memory |= told
            if not told or len(told) < len(wanted):
                return

    def _bytes(self, value: Any, kind: TypeRef) -> bytes:
        if isinstance(value, int | float | str | bytes):
            return pack(self.codec.out(value, kind))
        known = self._packed.get(id(value))
        if known is None or known[0] is not value:
            if len(self._packed) >= _BATCH:
                self._packed.clear()
            known = self._packed[id(value)] = value, pack(self.codec.out(value, kind))
        return known[1]

    def _kept(self, name: str, cases: Sequence[Case], process: Process) -> list[list[Any]]:
        """Return cases with their results, spread over all that were tried; long ones are left out."""
        pinned = [case for case in cases if case.origin == "pinned"]
        others = [case for case in cases if case.origin not in ("pinned", "long")]
        ended = outcomes(process, name, [*pinned, *others[:: max(1, len(others) // KEPT)]][:KEPT])
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


def outcomes(process: Process | CallOne, name: str, cases: Sequence[Case]) -> Iterator[tuple[Case, Outcome]]:
    """Yield how each case ends, up to a death; a batch is finished before any of it is looked at."""
    starts = [0, *range(_FIRST, len(cases), _BATCH)]
    for start, end in pairwise([*starts, len(cases)]):
        batch = cases[start:end]
        if isinstance(process, Process):
            outcomes = _answers(process, name, batch)
        else:
            outcomes = [outcome for case in batch if (outcome := process(name, case.args)) is not None]
        yield from zip(batch, outcomes, strict=False)
        if outcomes and isinstance(outcomes[-1], Died):
            return


def _answers(process: Process, name: str, batch: Sequence[Case]) -> list[Outcome]:
    """Return how each case of a batch ends, up to a death that comes again where it was sent from outside."""
    ended = list(process.call_many((name, case.args) for case in batch))
    if ended and isinstance(last := ended[-1], Died) and last.from_outside:
        ended[-1] = process.call(name, batch[len(ended) - 1].args)
        if not isinstance(ended[-1], Died):
            ended += _answers(process, name, batch[len(ended) :])
    return ended


def alike(one: Outcome, other: Outcome) -> bool:
    match one, other:
        case Returned(value=first), Returned(value=second):
            return same(first, second)
        case Raised(kind=first), Raised(kind=second):
            return first == second
        case (NoSuchValue(), _) | (_, NoSuchValue()):
            return True
        case _:
            return False
