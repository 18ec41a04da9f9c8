"""Values that a function is tried with: all of them where they are few, else drawn, changed and long ones."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import chain, islice, product
from typing import Any

from criticality.judging.clauses import Condition, branches
from criticality.judging.domain import NotEvaluable, constraint_of
from criticality.judging.drawing import Drawing, Hole
from criticality.judging.sequences import NoValue
from criticality.judging.shapes import TEXTUAL, size_of
from criticality.spec.types import Param, TypeRef, parse_type
from criticality.spec.values import bounds
from llm_runtime.structs import Struct

#: Sizes of long values, and how their items follow each other.
_LONG = ((64, ("", "all 1", "sorted", "equal", "in 1", "0 far")), (300, ("all 1", "sorted", "in 1")))
#: Few numbers of which a whole case is made: so come ties, and tables that are nearly alike.
_ALPHABETS = ((0, 1), (0, 1, 2), (-1, 0, 1), (1, 2), (1,))
#: Cases that are looked at for such as can be made long.
_LOOKED_AT = 200
#: How likely values of a case are such as were made for it before.
_NEAR = (0.2, 0.2, 0.2, 0.7)
#: How many cases lie beside one whose numbers are all alike.
_AWAY = 6
#: Cases that are aimed at one branch.
_EACH = 12
#: Bits where whole numbers end, and how many are left to what is computed of them; cases of such numbers.
_WIDTHS, _SPARE, _FAR_CASES = (31, 32, 53, 63, 64), 9, 40
_BEYOND = re.compile(r"\b\d{10}")


class Case(Struct):
    """Arguments, and where they come from: ``pinned``, ``all``, ``drawn``, ``long`` or ``far``."""

    args: tuple[Any, ...]
    origin: str


class Counts(Struct):
    """How many cases of each origin are made at most: drawn ones small and any; ``whole`` where they are all.

    Args:
        longest: items of a long value.
    """

    small: int = 600
    text: int = 1200
    drawn: int = 300
    whole: int = 20_000
    long: int = 40
    longest: int = 300


class Values(Drawing):
    """Cases: values of several parameters together, always the same for the same seed."""

    def cases(
        self, params: Sequence[Param], conditions: Sequence[Condition], pinned: Sequence[tuple[Any, ...]] = (),
        counts: Counts | None = None,
    ) -> Iterator[Case]:  # fmt: skip
        """Yield cases for parameters, each once, that fulfil the conditions."""
        counts, known = counts or Counts(), dict[str, tuple[Any, ...]]()
        places = _places(params, conditions)
        whole = self._product(places, counts.whole)
        stages: list[tuple[str, Iterator[tuple[Any, ...]], int]] = [("pinned", iter(pinned), len(pinned))]
        if whole is not None:
            self.random.shuffle(whole)
            stages.append(("all", iter(whole), len(whole)))
        else:
            many = max(counts.small, counts.drawn)
            many += counts.text // 2 if any(self.root(place.kind).name in TEXTUAL for place in places) else 0
            drawn, long = self._drawn_cases(places, conditions, many), self._long(params, conditions, counts.longest)
            late = self._lengthened(places, conditions, known, counts.longest)
            stages += [("drawn", drawn, many), ("long", long, counts.long), ("long", late, counts.long // 2)]
        for origin, stage, most in stages:
            fitting = (a for a in stage if _fits(places, conditions, a)) if origin in ("pinned", "all") else stage
            yield from (Case(args, origin) for args in islice(_each_once(fitting, known), most))

    def _aims(self, places: Sequence[Hole]) -> list[Condition]:
        """Return the branches of bodies as conditions."""
        names, aims = [place.name for place in places], list[Condition]()
        for text in dict.fromkeys(text for body in self.bodies for text in branches(body, names)):
            with suppress(NotEvaluable):
                self.domain.code(text)
                aims.append(Condition(self.domain, text, own=names))
        return aims

    def _drawn_cases(
        self, places: Sequence[Hole], conditions: Sequence[Condition], most: int
    ) -> Iterator[tuple[Any, ...]]:
        """Yield values drawn together, small ones first; some in the branches of bodies."""
        aims, failed = self._aims(places), 0
        share = min(0.7, max(0.3, _EACH * len(aims) / max(1, most))) if aims else 0
        for number in range((2 if any(self.has_items(place.kind) for place in places) else 4) * most):
            self.seen, self.most = {}, min(12, 1 + number * 36 // max(1, most))
            turned = [aims[number % len(aims)], self.random.choice(aims)] if self.random.random() < share else []
            aim = turned[: self.random.choice((1, 1, 1, 2))]  # two at once, where body and clause part ways
            self.near = self.random.choice(_NEAR)
            self._gather()
            self.alphabet = self.random.choice(_ALPHABETS) if self.random.random() < 0.2 else ()
            lone = self.random.choices([*self._lone, self.random.choice(self._signs), *"aaaBBB" * self.cased], k=2)
            self.few = "".join(lone) * bool(self.alphabet)
            try:
                args = tuple(self.fill(places, [*conditions, *aim], attempts=2 if aim else 6).values())
                yield args
                yield from self._beside(places, conditions, args, min(1, len(aim) + len(self.alphabet)))
            except NoValue:
                failed += not aim
                if failed > max(60, number // 2):
                    break

    def _gather(self) -> None:
        """Take few of the methods that a class has for one case, in any shares: so more of its states are come to.

        After A. Groce and others, Swarm Testing, ISSTA 2012.
        """
        for name in self.domain.spec.enums if self.calls else ():
            held = list(self.domain.types[name])
            self.among[name] = self.random.choices(held, k=self.random.randint(1, len(held) + 2))

    def _beside(
        self, places: Sequence[Hole], conditions: Sequence[Condition], args: tuple[Any, ...], most: int
    ) -> Iterator[tuple[Any, ...]]:
        """Yield values that are one number away: what holds of a whole may fail at one place of it."""
        for _ in range(len(places) and (_AWAY if len(self.alphabet) == 1 else most)):
            at = self.random.randrange(len(places))
            one = self.shifted(places[at].kind, args[at], self.random.choice((1, -1)), self.random.choice)
            changed = (*args[:at], one, *args[at + 1 :])
            if one is not None and _fits(places, conditions, changed):
                yield changed

    def _lengthened(
        self, places: Sequence[Hole], conditions: Sequence[Condition], known: Mapping[str, Any], longest: int
    ) -> Iterator[tuple[Any, ...]]:  # fmt: skip
        """Yield known cases in which one item comes again and again: what they show comes late, or after many."""
        for args in self.random.sample([*known.values()], min(_LOOKED_AT, len(known))):
            for at, place in enumerate(places):
                value = args[at] if self.root(place.kind).name in ("List", *TEXTUAL) else ()
                if value:
                    here = self.random.randrange(len(value))
                    more = value[here : here + 1] * (self.random.randint(longest // 4, longest) - len(value))
                    one = self.witness(place.kind, value[:here] + more + value[here:])
                    changed = (*args[:at], one, *args[at + 1 :])
                    if one is not None and _fits(places, conditions, changed):
                        yield changed

    def far_cases(self, params: Sequence[Param], conditions: Sequence[Condition], bits: int) -> Iterator[Case]:
        """Yield cases with whole numbers where their widths end, as far as nothing bounds them.

        Args:
            bits: of a whole number; a sum of some, or one times a small constant, stays below. 0 where it may have any.
        """
        self.far = tuple(1 << n for n in _WIDTHS if not bits or n + _SPARE <= bits)
        made = self._drawn_cases(_places(params, conditions), conditions, _FAR_CASES)
        yield from (Case(args, "far") for args in _each_once(made, {}) if _BEYOND.search(repr(args)))
        self.far = ()

    def _long(
        self, params: Sequence[Param], conditions: Sequence[Condition], longest: int
    ) -> Iterator[tuple[Any, ...]]:
        """Yield long values of each argument that can be long, and of all of them."""
        ways = [(size, way) for size, ways in _LONG if size <= longest for way in ways]
        growing = [p.name for p in params if self.grows(p.type)]
        for names in [[name] for name in growing] + ([growing] if len(growing) > 1 else []):
            yield from filter(None, (self.grown(params, conditions, names, way, size) for size, way in ways))

    def grown(
        self, params: Sequence[Param], conditions: Sequence[Condition], names: Sequence[str], way: str, size: int
    ) -> tuple[Any, ...] | None:  # fmt: skip
        """Return values of which some are long; ``None`` where they do not come to half of the size.

        Args:
            way: how items follow each other (:data:`~criticality.judging.sequences.WAYS`).
        """
        self.random.seed(f"{way} {names}")
        self.seen, self.way, self.most, self._how = {}, way, 3, (1, 0, 1)
        self.alphabet, self.few, self.near = (), "", _NEAR[0]
        self._gather()
        try:
            held = self.fill(_places(params, conditions), conditions, sizes=dict.fromkeys(names, size), attempts=2)
        except NoValue:
            return None
        finally:
            self.way = ""
        return tuple(held.values()) if all(2 * size_of(held[name]) >= size for name in names) else None

    def _whole(self, kind: TypeRef, constraints: tuple[str, ...], most: int) -> list[Any] | None:
        """Return all values of a type; ``None`` where there are more than ``most``."""
        made = self._all(kind, constraints, most)
        broken, absent = constraint_of(constraints), kind.name in ("Option", "Unit")
        return None if made is None else [v for v in made if (v is not None or absent) and not broken(v)]

    def _all(self, kind: TypeRef, constraints: tuple[str, ...], most: int) -> list[Any] | None:
        spec, limits = self.domain.spec, bounds(constraints)
        low = 1 if limits.positive and limits.low is None else limits.low
        match kind.name:
            case "Bool" | "Unit":
                return [False, True] if kind.name == "Bool" else [None]
            case "Int" if limits.high is not None and low is not None and limits.high - low < most:
                return list(range(low, limits.high + 1))
            case "Option":
                inside = self._whole(kind.args[0], (), most - 1)
                return None if inside is None else [None, *inside]
            case "Tuple":
                return self._product([Hole("", arg) for arg in kind.args], most)
            case "List" if limits.longest is not None and limits.longest <= 16:
                item, sizes = self._whole(kind.args[0], (), most) or (), range(limits.longest + 1)
                few = item and sum(len(item) ** n for n in sizes) <= most
                return list(chain.from_iterable(product(item, repeat=n) for n in sizes)) if few else None
            case name if name in spec.enums:
                return list(self.domain.types[name])
            case name if name in spec.newtypes or name in spec.data_models:
                new = spec.newtypes.get(name)
                base = [Hole("", parse_type(new.base), (*constraints, *new.constraints))] if new else self.fields(name)
                held = self._product(base, most)
                return None if held is None else [self.made(name, *values) for values in held]
            case _:
                return None

    def _product(self, places: Sequence[Hole], most: int) -> list[tuple[Any, ...]] | None:
        """Return all values of several places together; ``None`` where there are more than ``most``."""
        pools: list[list[Any]] = []
        for place in places:
            pool = self._whole(place.kind, place.constraints, most) if most else None
            if pool is None:
                return None
            pools.append(pool)
            most //= max(1, len(pool))
        return list(product(*pools)) if most else None


def _each_once(stage: Iterable[tuple[Any, ...]], known: dict[str, tuple[Any, ...]]) -> Iterator[tuple[Any, ...]]:
    for args in stage:
        if (key := repr(args)) not in known:
            known[key] = args
            yield args


def _fits(places: Sequence[Hole], conditions: Sequence[Condition], args: tuple[Any, ...]) -> bool:
    held = {place.name: value for place, value in zip(places, args, strict=True)}
    return not any(condition.broken(held) for condition in conditions)


def _places(params: Sequence[Param], conditions: Sequence[Condition]) -> list[Hole]:
    """Return the names with what conditions say of each in a constant."""
    return [
        Hole(p.name, p.type, tuple(bound for condition in conditions for bound in condition.bounds(p.name)))
        for p in params
    ]
