"""Does a call keep its word? Contracts and tests of claims, evaluated on values; calls go elsewhere."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from itertools import chain
from time import thread_time
from typing import Any

from criticality.judging.clauses import Condition
from criticality.judging.domain import Domain
from criticality.judging.patience import BUDGET_S, UNJUDGED, WHY, clocked
from criticality.judging.served import Call, Died, NoSuchValue, Outcome, Raised, Returned
from criticality.judging.steps import CallMade, calls_made, calls_of
from criticality.lattice_plan import FunctionPlan
from criticality.spec.claims import ClaimTest, ClaimType
from criticality.spec.predicates import BUILTINS, Predicate, parse_predicate
from criticality.spec.types import Param, parse_param
from llm_runtime.structs import Struct

#: Seconds since 1970 at the beginning of every temporal test.
BEGINNING = 1_700_000_000
#: Cases in which what a clause presupposes is true; with fewer it is hardly tried.
ENOUGH = 20
#: What is said of a clause where evaluating it ends with an error.
UNEVALUATED = "it cannot be evaluated"
#: Under what the values before a call stand among those after it; no clause can say it.
BEFORE = "old values"
_SHOWN = 160
_LANES = 3


class Postponed(Exception):
    """A function is needed that has no body yet."""


class Gone(Exception):
    """A body gave no answer that can be taken; the message says why."""


class BodyRaised(Exception):
    """An error that the specification does not know."""


class Broken(Struct):
    """A promise that does not hold: its words, the values for which it does not, and of a class how a call ended."""

    promise: str
    shown: str
    ended: str = ""

    def __str__(self) -> str:
        return f"{self.promise} does not hold for {self.shown}"


class Evaluator:
    """Contracts and claims over one domain.

    Args:
        functions: by id.
        call: how a function is called; ``None`` where it has no body.
        foresee: is given the evaluation of a clause that calls functions before it takes place.
    """

    def __init__(
        self,
        domain: Domain,
        functions: Mapping[str, FunctionPlan],
        call: Callable[[str, tuple[Any, ...]], Outcome | None],
        foresee: Callable[[Callable[[], Any]], None] | None = None,
    ) -> None:
        self.domain, self.functions, self._call, self._foresee = domain, functions, call, foresee
        #: Calls that evaluation itself made since the list was last emptied.
        self.made: list[Call] = []
        self.callables = {name.partition(".")[2]: self._callable(name) for name in functions}
        #: In how many cases what a clause presupposes was true; by function.
        self.seen: dict[str, Counter[str]] = defaultdict(Counter)
        #: Clauses that could not be evaluated, and why; by function. They are not tried again.
        self.unjudged: dict[str, dict[str, str]] = defaultdict(dict)
        self._spent = defaultdict[tuple[str, str], float](float)
        #: What must hold of a function's arguments before it is called.
        self.conditions = cache(self._conditions)
        self._settled: dict[str, list[Predicate]] = {}

    def settle(self, name: str, clauses: Sequence[str]) -> None:
        """Take clauses that were settled on into a function's contract."""
        known = {*self.domain.types, *self.callables, *(p.name for p in self.functions[name].parameters)}
        self._settled[name] = [parse_predicate(text, known=known) for text in clauses]

    def _conditions(self, name: str) -> list[Condition]:
        function = self.functions[name]
        always = () if calls_of(function) else function.contract.invariants
        own = [p.name for p in function.parameters]
        return [
            self.condition(p.code, own)
            for p in ((*function.contract.requires, *always) if own else ())
            if p.checkable and not p.raised and not p.olds and "result" not in p.names
        ]

    def condition(self, code: str, own: Sequence[str] = ()) -> Condition:
        """Return a condition over names that may call functions.

        Args:
            own: names of values, though a function is called so too.
        """
        used = {name: made for name, made in self.callables.items() if name in code and name not in (*own, *BUILTINS)}
        return Condition(self.domain, code, used, own)

    def assumed(self, test: ClaimTest) -> tuple[list[Param], list[Condition]]:
        """Return the variables of a test, and what must hold of them."""
        conditions = [self.condition(parse_predicate(text).code) for text in test.assume]
        return [parse_param(variable) for variable in test.variables], conditions

    def fits(self, name: str, args: Sequence[Any]) -> str:
        """Return the REQUIRES clause or invariant that arguments break; empty where they may be given."""
        held = self._held(name, args)
        return next((part for condition in self.conditions(name) if (part := condition.broken(held))), "")

    def broken(self, name: str, args: Sequence[Any], outcome: Outcome) -> Broken | None:
        """Return the promise of a function's contract that a call's end breaks; of a class, the first of its steps'."""
        if isinstance(outcome, NoSuchValue):
            return None
        if isinstance(outcome, Died):
            return Broken("an answer", self._shown(name, args, outcome))
        if isinstance(outcome, Returned) and calls_of(self.functions[name]):
            return self._broken_steps(name, args, outcome.value)
        return self._broken(name, self._held(name, args), outcome, partial(self._shown, name, args, outcome))

    def _broken(self, name: str, held: dict[str, Any], outcome: Outcome, shown: Callable[[], str]) -> Broken | None:
        raised = outcome.kind if isinstance(outcome, Raised) else ""
        value = outcome.value if isinstance(outcome, Returned) else None
        held = {**self._language(name), **held, "raises": partial(_is_named, raised), "result": value}
        for clause, p in self.clauses(name).items():
            if clause not in self.unjudged[name] and (not raised or p.raised):
                fault = self._judged(name, clause, p, held)
                if fault is not None:
                    return Broken(f"{clause}{fault}", shown())
        if raised and not self._allowed(name, raised, held):
            return Broken("no error but those that the contract promises", shown())
        return None

    def _broken_steps(self, name: str, args: Sequence[Any], told: Sequence[Any]) -> Broken | None:
        """Return what the first call breaks that breaks anything; what REQUIRES rules out ends the sequence."""
        if len(told) != len(args[-1]) + 1:
            return Broken("an answer", "it tells of other calls than were made")
        calls, seen = calls_made(self.functions, name, args, told), dict[str, Any]()
        for at, call in enumerate(calls):
            before = {**calls[0].held, **seen, **call.held}
            if any(self._fault(p, before) is not None for p in call.plan.contract.requires):
                return None
            seen = call.after.state.__dict__
            held = {**calls[0].held, **seen, **call.held, BEFORE: before}
            if broken := self._broken(call.function, held, call.outcome, partial(_as_called, calls[: at + 1])):
                of = f"{call.called}: " if at and not broken.promise.startswith("INVARIANT") else ""
                return Broken(of + broken.promise, f"{broken.shown}; {_ended(call)}", _ended(call))
        return None

    def parted(self, name: str, args: Sequence[Any], *outcomes: Outcome) -> list[str]:
        """Return a case in words, and how two bodies end it; of a class, up to the first call that they differ in."""
        if not calls_of(self.functions[name]):
            shown = ", ".join(f"{p}={value!r}" for p, value in self._held(name, args).items())
            return [shown[:2000], *map(ended, outcomes)]
        told = [one.value if isinstance(one, Returned) else () for one in outcomes]
        if not all(told):
            return [_as_called(calls_made(self.functions, name, args)), *map(ended, outcomes)]
        at = next((at for at, (one, other) in enumerate(zip(*told, strict=False)) if one != other), 0)
        mine, theirs = (calls_made(self.functions, name, args, one)[: at + 1] for one in told)
        return [_as_called(mine), _ended(mine[at]), _ended(theirs[at])]

    def clauses(self, name: str) -> dict[str, Predicate]:
        """Return what a function promises and can be evaluated, by its words."""
        contract = self.functions[name].contract
        groups = {"ENSURES": (*contract.ensures, *self._settled.get(name, ())), "INVARIANT": contract.invariants}
        return {f"{word}: {p.text}": p for word, group in groups.items() for p in group if p.checkable}

    def hardly(self, name: str) -> dict[str, int]:
        """Return clauses whose presupposition was true in too few cases, and in how many."""
        seen, left = self.seen[name], self.unjudged[name]
        return {clause: seen[clause] for clause in self.clauses(name) if clause not in left and seen[clause] < ENOUGH}

    def _judged(self, name: str, clause: str, predicate: Predicate, held: Mapping[str, Any]) -> str | None:
        begun = thread_time()
        if self._foresee and predicate.calls & self.callables.keys():
            # A wrong guess must not end what goes through many.
            self._foresee(partial(self._value, predicate.code, {**held, "all": tuple}))
        try:
            fault = self._fault(predicate, held)
            if not predicate.when or self._truth(predicate, held):
                self.seen[name][clause] += 1
        except UNJUDGED as why:
            self.unjudged[name][clause] = WHY[type(why)]
            return None
        self._spent[name, clause] += thread_time() - begun
        if self._spent[name, clause] > BUDGET_S:
            self.unjudged[name][clause] = f"it was left off after {BUDGET_S:g} s, before all cases were tried"
        return fault

    def _fault(self, predicate: Predicate, held: Mapping[str, Any]) -> str | None:
        try:
            past = held.get(BEFORE, held)
            olds = {old: self._value(code, past) for old, code in predicate.olds if old in predicate.code}
            return None if self._value(predicate.code, {**held, **olds}) else ""
        except (Postponed, Gone, *UNJUDGED):
            raise
        except Exception as error:
            return f" ({UNEVALUATED}: {type(error).__name__}: {str(error)[:120]})"

    def _allowed(self, name: str, raised: str, held: dict[str, Any]) -> bool:
        predicates = (*self.functions[name].contract.predicates, *self._settled.get(name, ()))
        return any(raised in p.raised and (not p.when or self._truth(p, held)) for p in predicates)

    def _truth(self, predicate: Predicate, held: Mapping[str, Any]) -> bool:
        """Tell whether what a predicate presupposes is true."""
        return self._fault(replace(predicate, code=predicate.when), held) is None

    def test(self, kind: ClaimType, test: ClaimTest, held: Mapping[str, Any], turns: Sequence[int]) -> Broken | None:
        """Return what a test of a claim shows for some values of its variables; ``None`` where all is as promised.

        Args:
            turns: of a concurrent claim, which lane goes on next.
        """
        time = BEGINNING

        def now() -> int:
            return time

        def advance(seconds: int) -> int:
            nonlocal time
            time += max(0, int(seconds))
            return time

        clock = {"now": now, "advance": advance} if kind == "temporal" else {}
        lanes = [dict(held) for _ in range(_LANES if kind == "concurrent" and not test.raises else 1)]
        left = [test.steps[::-1] for _ in lanes]
        at_last = (n for n in range(len(lanes)) for _ in test.steps)
        for lane in chain(turns if len(lanes) > 1 else (), at_last):
            if left[lane]:
                name, _, expression = left[lane].pop().partition("=")
                fault = self._step(test, name.strip(), expression.strip(), not left[lane], lanes[lane], clock)
                if fault is not None:
                    return fault
        for names in lanes:
            for check in test.check:
                fault = self._fault(parse_predicate(check), {**names, **clock})
                if fault is not None:
                    return Broken(f"{check}{fault}", _named(names))
        if any(names != lanes[0] for names in lanes):
            return Broken("every lane comes to the same", _named(lanes[0]))
        return None

    def _step(
        self, test: ClaimTest, name: str, expression: str, last: bool, names: dict[str, Any], clock: dict[str, Any]
    ) -> Broken | None:
        raised = ""
        try:
            names[name] = self._value(parse_predicate(expression).code, {**names, **clock})
        except (Postponed, Gone, *UNJUDGED):
            raise
        except Exception as error:
            raised = error.args[0] if isinstance(error, BodyRaised) else type(error).__name__
        if last and test.raises:
            if raised != test.raises:
                return Broken(f"{expression} raises {test.raises}", _named({**names, "error": raised or "none"}))
            return None
        return Broken(f"{expression} comes to a value", _named({**names, "error": raised})) if raised else None

    def _value(self, code: str, held: Mapping[str, Any]) -> Any:
        with clocked():
            return self.domain.evaluate(code, {**self.callables, **held})

    def _callable(self, name: str) -> Callable[..., Any]:
        params = [p.name for p in self.functions[name].parameters]

        def call(*args: Any, **named: Any) -> Any:
            values = (*args, *(named[p] for p in params[len(args) :]))
            if len(values) != len(params):
                raise TypeError(f"{name} takes {len(params)} values")
            outcome = self._call(name, values)
            if outcome is None or isinstance(outcome, NoSuchValue):
                raise Postponed(name)
            self.made.append(Call(name, lambda: (values, outcome)))
            if isinstance(outcome, Died):
                raise Gone(f"{name}: {outcome.reason}")
            if isinstance(outcome, Returned):
                return outcome.value
            known = self.domain.types.get(outcome.kind)
            raise known() if isinstance(known, type) and issubclass(known, Exception) else BodyRaised(outcome.kind)

        return call

    def _language(self, name: str) -> Mapping[str, Any]:
        """Return what a function's name means in the language where it means something: none is judged by itself."""
        return {word: self.domain.scope[word] for word in BUILTINS & {name.partition(".")[2]}}

    def _held(self, name: str, args: Sequence[Any]) -> dict[str, Any]:
        return {p.name: value for p, value in zip(self.functions[name].parameters, args, strict=True)}

    def _shown(self, name: str, args: Sequence[Any], outcome: Outcome) -> str:
        if calls_of(self.functions[name]):
            return f"{_as_called(calls_made(self.functions, name, args))}; {ended(outcome)}"
        return f"{_named(self._held(name, args)) or 'no arguments'}; {ended(outcome)}"


def _as_called(calls: Sequence[CallMade]) -> str:
    return "; ".join(f"{call.called}({_named(call.held)})" for call in calls)


def _ended(call: CallMade) -> str:
    return f"{ended(call.outcome)}; then {_named(call.after.state.__dict__)}"


def _is_named(name: str, error: type[Exception]) -> bool:
    return error.__name__ == name


def ended(outcome: Outcome) -> str:
    """Return in words how a call ended."""
    match outcome:
        case Returned(value=value):
            return f"the result was {short(value)}"
        case Raised(kind=kind, message=message):
            return f"it raised {kind}({message[:80]!r})"
        case Died(reason=reason) | NoSuchValue(reason=reason):
            return reason


def short(value: Any) -> str:
    """Return a value's text, cut in the middle where it is long."""
    text = repr(value)
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN // 2]} ... {text[-_SHOWN // 3 :]}"


def _named(held: Mapping[str, Any]) -> str:
    return ", ".join(f"{name}={short(value)}" for name, value in held.items())
