"""Values drawn from types and from what must hold of them, near to each other where they can be."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from itertools import islice
from random import Random
from typing import Any
from uuid import UUID

from criticality.judging.clauses import Condition, Part
from criticality.judging.domain import Domain, constraint_of
from criticality.judging.sequences import SIGN, NoValue, Sequences
from criticality.judging.shapes import SEQUENCES, TEXTUAL
from criticality.judging.texts import PLAIN, formed, letters, some_changes
from criticality.spec.literals import Literals
from criticality.spec.types import TypeRef, parse_type
from criticality.spec.values import Bounds, bounds

#: A number far from all others.
FAR = 10**6
#: Items of a sequence that is not to be long.
_MOST = 12
#: Tries to fill some places; values that are looked at for one of them, and where that calls functions.
_ATTEMPTS, _TRIES, _CALLED = 4, 12, 8
_FORMS: dict[str, Callable[..., Any]] = {"Text": "".join, "String": "".join, "Set": frozenset}
_NONE = object()
_Due = Sequence[tuple[Condition, Part]]


@dataclass(frozen=True, slots=True)
class Hole:
    """A name that takes a value: a parameter, a field of a record."""

    name: str
    kind: TypeRef
    constraints: tuple[str, ...] = ()


class Drawing(Sequences):
    """Values of a specification's types, always the same for the same seed.

    Args:
        literals: the constants that contracts, claims and bodies are written with.
        results: values that accepted functions gave, by type.
    """

    def __init__(
        self, domain: Domain, literals: Literals, seed: str, results: Mapping[str, Sequence[Any]] | None = None
    ) -> None:
        super().__init__(domain, Random(int.from_bytes(hashlib.sha256(seed.encode()).digest()[:8], "big")))
        self.literals, self.results = literals, results or {}
        #: How items of what is long follow each other, and how many there are in what is not.
        self.way, self.most = "", _MOST
        self._rules: dict[str, list[Condition]] = {}

    def fill(
        self,
        places: Sequence[Hole],
        conditions: Sequence[Condition],
        *,
        sizes: Mapping[str, int] | None = None,
        fixed: Mapping[str, Any] | None = None,
        attempts: int = _ATTEMPTS,
    ) -> dict[str, Any]:
        """Return values for places of which all conditions hold.

        Args:
            sizes: of places whose values are to be long.
            fixed: values of places that have one.

        Raises:
            NoValue: none were found.
        """
        parts = [(condition, part) for condition in conditions for part in condition.parts]
        sizes, fixed = sizes or {}, fixed or {}
        order = list(places)
        for attempt in range(attempts):
            if attempt:
                self.random.shuffle(order)
            order.sort(key=lambda place: (place.name not in fixed, place.name not in sizes))
            try:
                held = self._filled(order, parts, sizes, fixed)
            except NoValue:
                continue
            return {place.name: held[place.name] for place in places}
        raise NoValue

    def _filled(
        self, order: Sequence[Hole], parts: _Due, sizes: Mapping[str, int], fixed: Mapping[str, Any]
    ) -> dict[str, Any]:
        held: dict[str, Any] = {}
        for place in order:
            due = _due_with(parts, place.name, held)
            tries = _CALLED if any(part.calls for _, part in due) else _TRIES
            offered = self._offered(place, held, due, sizes.get(place.name))
            values = [fixed[place.name]] if place.name in fixed else islice(offered, tries)
            fitting = (value for value in values if _all_hold(due, {**held, place.name: value}))
            held[place.name] = value = next(fitting, _NONE)
            if value is _NONE:
                raise NoValue
            self.note(place.kind, value)
        return held

    def _offered(self, place: Hole, held: Mapping[str, Any], due: _Due, size: int | None) -> Iterator[Any]:
        """Yield values for a place: built from what is due of it, drawn, and moved to where clauses point."""
        built = bool(due) and self.root(place.kind).name in SEQUENCES
        built = built and not any("matches(" in part.text for _, part in due)  # a form is drawn whole
        broken = constraint_of(place.constraints)
        while True:
            if built:
                named = [n for c, p in due for n in c.sizes(p, place.name, held) if n <= 400]
                asked = self.random.choice(named) if named and size is None and self.random.random() < 0.6 else size
                yield self.sequence(place.kind, place.constraints, asked, due, held, place.name)
            value = self.draw(place.kind, place.constraints, size)
            yield value
            moved = (self.put(place.kind, value, *goal) for c, p in due for goal in c.goals(p, place.name, held, value))
            yield from (one for one in moved if one is not None and not broken(one))

    def draw(self, kind: TypeRef, constraints: tuple[str, ...] = (), size: int | None = None) -> Any:
        if kind == SIGN:
            return self.random.choice(self._signs())
        broken = constraint_of(constraints)
        optional = self.root(kind).name in ("Option", "Unit", "Result")
        for _ in range(6):
            value = self._drawn(kind, constraints, size)
            if (value is not None or optional) and not broken(value):
                return value
        raise NoValue

    def _drawn(self, kind: TypeRef, constraints: tuple[str, ...], size: int | None) -> Any:
        spec, chance = self.domain.spec, self.random.random()
        near, results = self.seen.get(str(kind)), self.results.get(str(kind))
        if size is None and near and chance < 0.2:
            return self.random.choice(near)
        if size is None and results and chance > 0.75:
            return self.random.choice(results)
        if kind.name in spec.newtypes:
            new = spec.newtypes[kind.name]
            return self.made(kind.name, self.draw(parse_type(new.base), (*constraints, *new.constraints), size))
        if kind.name in spec.data_models:
            if near and size is None and chance < 0.5:
                return next(self.after(kind, near[-1]))
            return self._record(kind.name, size)
        return self._plain(kind, constraints, size)

    def _plain(self, kind: TypeRef, constraints: tuple[str, ...], size: int | None) -> Any:
        random, limits, args = self.random, bounds(constraints), kind.args
        match kind.name:
            case "Int":
                return self._number(limits) if size is None else size
            case "Decimal":
                return Decimal(self._number(limits)) + Decimal(random.choice((0, 0, 1, 5, 10, 25, 50, 99))) / 100
            case "Float":
                return self._number(limits) + random.choice((0.0, 0.5, 0.25, 0.1))
            case "Text" | "String" | "List" | "Set" | "Map":
                return self.sequence(kind, constraints, size)
            case "Option":
                return None if random.random() < 0.2 else self.draw(args[0], (), size)
            case "Tuple":
                return tuple(self.draw(arg) for arg in args)
            case "Result":
                return self.draw(args[0])
            case "Bool":
                return random.random() < 0.5
            case "Bytes":
                return random.choice((b"", b"\0", b"\xff\x80", random.randbytes(random.randrange(9))))
            case "UUID":
                return UUID(int=random.choice((0, 1, (1 << 128) - 1, random.getrandbits(128))))
            case "Date":
                days = random.choice((0, 1, -1, 307, 308, random.randrange(-20_000, 9_000)))
                return date(2024, 2, 29) + timedelta(days=days)
            case "Timestamp":
                seconds = random.choice((0, 1, -1, 43_200, 86_400, 0.000_001, random.randrange(-(10**9), 10**8)))
                return datetime(2024, 2, 29, 12) + timedelta(seconds=seconds)
            case "Unit":
                return None
            case name:
                kinds = self.domain.types[name]
                return random.choice(list(kinds)) if name in self.domain.spec.enums else kinds()

    def _number(self, limits: Bounds) -> int:
        random, low = self.random, 1 if limits.positive and limits.low is None else limits.low
        floor, ceiling = _range(low, limits.high)
        few = range(-8, 12) if low is None else range(max(floor, 0), max(floor, 0) + 12)
        near, known = self.seen.get("number") or few, self.literals.numbers or few
        power = 1 << random.randrange(max(1, ceiling.bit_length()))
        edges = (floor, floor + 1, ceiling, ceiling - 1, 0)
        beside = random.choice((near, near[-20:], near[-20:], known, known))
        others = random.choice((few, few, edges, (power, random.randint(floor, ceiling))))
        value = random.choice((int(random.choice(beside)) + random.choice((0, 0, 1, -1)), random.choice(others)))
        return min(max(value, floor), ceiling)

    def _text(self, limits: Bounds, size: int | None) -> str:
        random, whole = (
            self.random,
            [*self.literals.examples, *self.literals.texts, *self.seen.get("text", ()), *PLAIN],
        )
        one, start = random.choice(whole), random.randrange(20)
        long = random.choice([n for n in self.literals.numbers if n < 65] or [4]) + random.choice((0, 1, -1))
        if size is not None:
            mixed = (random.choice((one or "a", random.choice(self._signs()))) for _ in range(size))
            made = (letters(self.way) * size if self.way else "".join(mixed))[:size]
        elif self.literals.forms and start < 8:
            made = formed(random.choice(self.literals.forms), random)
            made = random.choice([made, made, *some_changes(made)])
        else:
            ways: list[Callable[[], str]] = [
                lambda: one, lambda: random.choice(some_changes(one)),
                lambda: "".join(random.choices(whole, k=random.randrange(1, 4))),
                lambda: one[start % (len(one) + 1) :][: random.randrange(1, 6)],
                lambda: str(self._number(Bounds())),
                lambda: str(abs(self._number(Bounds()))).zfill(long),
                lambda: one.ljust(long, random.choice(self._signs())),
                lambda: "".join(random.choices(self._signs(), k=random.randrange(limits.shortest + 12))),
            ]  # fmt: skip
            made = random.choice(ways)()
        return made.ljust(limits.shortest, "a")[: limits.longest]

    def _signs(self) -> str:
        whole = "".join([*self.literals.examples, *self.literals.texts])
        return "".join(sorted({*whole, *"abcXYZ019 ,-_éß٣"}))

    def sequence(
        self, kind: TypeRef, constraints: tuple[str, ...], size: int | None,
        due: _Due = (), held: Mapping[str, Any] | None = None, name: str = "",
    ) -> Any:  # fmt: skip
        """Return a text, list, set or map; ``None`` where its type does not allow what was made.

        Args:
            size: of how many items; ``None`` is any number.
            due: what must hold when it stands under a name, beside what is held.
        """
        base, inner = self.root(kind), kind
        while inner.name in self.domain.spec.newtypes:
            new = self.domain.spec.newtypes[inner.name]
            inner, constraints = parse_type(new.base), (*constraints, *new.constraints)
        limits = bounds(constraints)
        if base.name in TEXTUAL and not due:
            return self.witness(kind, self._text(limits, size))
        many = self._many(limits) if size is None else min(size, limits.longest or size)
        form, others = _FORMS.get(base.name, tuple), held or {}
        broken = constraint_of(tuple(one for one in constraints if one in ("sorted", "distinct")))
        beginnings = [one for one in due if _all_hold([one], {**others, name: form(())})]

        item = SIGN if base.name in TEXTUAL else base.args[0]

        def holds(items: Sequence[Any]) -> bool:
            return (
                not broken(items) and self.apart(item, items) and _all_hold(beginnings, {**others, name: form(items)})
            )

        distinct = base.name in ("Set", "Map")
        way = self.random.choice(("", "", "sorted", "all 1", "all 1", "in 1")) if size is None else self.way
        items = self.built(item, many, holds, way, distinct=distinct)
        if many and not items and beginnings:  # what holds of nothing need not be meant for each beginning
            beginnings.clear()
            items = self.built(item, many, holds, way, distinct=distinct)
        made = {key: self.draw(base.args[1]) for key in items} if base.name == "Map" else form(items)
        return self.witness(kind, made)

    def _many(self, limits: Bounds) -> int:
        """Return of how many items something is that need not be long."""
        most = max(self.most, limits.shortest + 2) if limits.longest is None else limits.longest
        named = [n for n in self.literals.numbers if limits.shortest <= n <= min(limits.longest or 64, 64)]
        if named and self.random.random() < 0.1:
            return min(self.random.choice(named) + self.random.choice((0, 1, 2)), limits.longest or FAR)
        return self.random.randint(limits.shortest, min(most, max(self.most, limits.shortest)))

    def _record(self, name: str, size: int | None = None) -> Any:
        places = self.fields(name)
        if name not in self._rules:
            self._rules[name] = [Condition(self.domain, text) for text in self.domain.invariants[name]]
        sizes = {} if size is None else {place.name: size for place in places if self.grows(place.kind)}
        return self.made(name, *self.fill(places, self._rules[name], sizes=sizes, attempts=4).values())

    def fields(self, name: str) -> list[Hole]:
        """Return the fields of a record."""
        model = self.domain.spec.data_models[name]
        return [Hole(f.name, parse_type(f.type), tuple(f.constraints)) for f in model.fields]


def _range(low: int | None, high: int | None) -> tuple[int, int]:
    """Return between which numbers those are that have no bounds on one side or both."""
    floor = low if low is not None else -FAR if high is None else min(0, high - FAR)
    return floor, max(FAR, floor + FAR) if high is None else high


def _due_with(parts: _Due, name: str, held: Mapping[str, Any]) -> _Due:
    """Return the parts that can be evaluated once a name has a value, and not before."""
    return [(c, p) for c, p in parts if p.names <= {name, *held} and not p.names <= held.keys()]


def _all_hold(due: _Due, held: Mapping[str, Any]) -> bool:
    return all(condition.holds(part, held) for condition, part in due)
