"""Values drawn from types and from what must hold of them, near to each other where they can be."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import date, datetime, timedelta
from decimal import Decimal
from functools import cached_property
from itertools import chain, islice, repeat
from math import isqrt
from random import Random
from typing import Any
from uuid import UUID

from criticality.judging.clauses import Condition, Part
from criticality.judging.domain import Domain, constraint_of
from criticality.judging.sequences import SIGN, NoValue, Sequences
from criticality.judging.shapes import SEQUENCES, TEXTUAL, size_of
from criticality.judging.texts import PLAIN, formed, letters, some_changes
from criticality.spec.literals import Literals, constants
from criticality.spec.types import TypeRef, parse_type
from criticality.spec.values import Bounds, bounds, constraints_of
from llm_runtime.structs import Struct

#: A number far from all others.
FAR = 10**6
#: Items of a sequence that is not to be long.
_MOST = 12
#: How items follow each other where any number of them will do.
_WAYS = ("", "", "sorted", "all 1", "all 1", "in 1")
#: Tries to fill some places; values that are looked at for one of them, and where that calls functions.
_ATTEMPTS, _TRIES, _CALLED = 4, 12, 8
_FORMS: dict[str, Callable[..., Any]] = {"Text": "".join, "String": "".join, "Set": frozenset}
#: Moments near to which others are drawn, and how many seconds from there.
_LEAP, _NOON, _NEAR = date(2024, 2, 29), datetime(2024, 2, 29, 12), (0, 1, -1, 3_600, 43_200, 0.000_001)
#: How many days from there: to a month before, to where a year begins, to where March begins in the years beside it,
#: and to where February ends in a century's last year; one of these alone has a leap day.
_DAYS = (0, 1, -1, -31, 307, 308, 365, 366, -365, -366)
_CENTURIES = [(date(year, 3, 1) - _LEAP).days - back for year in (1900, 2000, 2100) for back in (1, 2)]
#: Values that nothing bounds.
_LOOSE: dict[str, Callable[[Random], Any]] = {
    "Bool": lambda random: random.random() < 0.5,
    "Bytes": lambda random: random.choice((b"", b"\0", b"\xff\x80", random.randbytes(random.randrange(9)))),
    "UUID": lambda random: UUID(int=random.choice((0, 1, (1 << 128) - 1, random.getrandbits(128)))),
    "Date": lambda random: _LEAP + timedelta(_days(random)),
    "Timestamp": lambda random: (
        _NOON + timedelta(random.choice((0, _days(random))), random.choice((*_NEAR, random.randrange(86_400))))
    ),
    "Unit": lambda random: None,
}
_NONE = object()
_DIGITS = re.compile(r"[0-9]+")
_Due = Sequence[tuple[Condition, Part]]


class Hole(Struct):
    """A name that takes a value: a parameter, a field of a record."""

    name: str
    kind: TypeRef
    constraints: tuple[str, ...] = ()


class Drawing(Sequences):
    """Values of a specification's types, always the same for the same seed.

    Args:
        literals: the constants that contracts, claims and bodies are written with.
        results: values that accepted functions gave, by type.
        bodies: code in whose branches values should come, clauses too.
    """

    def __init__(
        self, domain: Domain, literals: Literals, seed: str,
        results: Mapping[str, Sequence[Any]] | None = None, bodies: Iterable[str] = (),
    ) -> None:  # fmt: skip
        super().__init__(domain, Random(int.from_bytes(hashlib.sha256(seed.encode()).digest()[:8], "big")))
        self.literals, self.results, self.bodies = literals, results or {}, tuple(bodies)
        self._lone = [text for text in literals.texts if len(text) == 1]
        #: Whether letters are turned into those of one case: then orders and ties differ in it.
        self.cased = bool(re.search("lower|upper|casefold", "".join(self.bodies)))
        self.beyond = 1 << max(12, *(number.bit_length() + 1 for number in (*literals.numbers, 0)))
        #: How items of what is long follow each other, and how many there are in what is not.
        self.way, self.most = "", _MOST
        self._rules: dict[str, list[Condition]] = {}
        #: Sequences that were found to fit, by what must hold of them.
        self._good: dict[tuple[str, ...], list[Any]] = {}
        #: Numbers and signs that a case is made of; nothing where it may be of any.
        self.alphabet: tuple[int, ...] = ()
        self.few = ""
        #: Whole numbers far beyond others, of which some come where nothing bounds them.
        self.far: tuple[int, ...] = ()
        #: How likely a value is one that was made before: then keys point at what they are keys of.
        self.near = 0.2
        #: Signs that what must hold of a text speaks of.
        self._spoken = ""
        #: Methods that the calls of a case take, some of them often, by the enum that names them.
        self.among: dict[str, Sequence[Any]] = {}

    def fill(
        self, places: Sequence[Hole], conditions: Sequence[Condition], *,
        sizes: Mapping[str, int] | None = None, attempts: int = _ATTEMPTS,
    ) -> dict[str, Any]:  # fmt: skip
        """Return values for places of which all conditions hold.

        Args:
            sizes: of places whose values are to be long.

        Raises:
            NoValue: none were found.
        """
        parts = [(condition, part) for condition in conditions for part in condition.parts]
        sizes, order = sizes or {}, list(places)
        for attempt in range(attempts):
            if attempt:
                self.random.shuffle(order)
            order.sort(key=lambda place: place.name not in sizes)
            with suppress(NoValue):
                held = self._filled(order, parts, sizes)
                return {place.name: held[place.name] for place in places}
        raise NoValue

    def _filled(self, order: Sequence[Hole], parts: _Due, sizes: Mapping[str, int]) -> dict[str, Any]:
        held: dict[str, Any] = {}
        for place in order:
            due = _due_with(parts, place.name, held)
            tries = _CALLED if any(part.calls for _, part in due) else _TRIES
            offered = self._offered(place, held, due, sizes.get(place.name))
            fitting = (value for value in islice(offered, tries) if _all_hold(due, {**held, place.name: value}))
            held[place.name] = value = next(fitting, _NONE)
            if value is _NONE:
                raise NoValue
            self.note(place.kind, value)
            telling = not isinstance(value, str) or not self._spoken or any(sign in value for sign in self._spoken)
            if due and self._has_length(place.kind) and 0 < size_of(value) <= _MOST and telling:
                self._good.setdefault(_words(place, due), []).append(value)
        return held

    def _offered(self, place: Hole, held: Mapping[str, Any], due: _Due, size: int | None) -> Iterator[Any]:
        """Yield values for a place: built from what is due of it, drawn, and moved to where clauses point."""
        built = bool(due) and self.root(place.kind).name in SEQUENCES
        built = built and not any("matches(" in part.text for _, part in due)  # a form is drawn whole
        broken = constraint_of(place.constraints)
        good = self._good.get(_words(place, due), ()) if size is None else ()
        near = self.seen.get(str(place.kind), ()) if size is None else ()
        while True:
            if good and self.random.random() < 0.3:  # what holds of two may hold of one within the other
                one, other = self.random.choice(good), self.random.choice(good)
                at = self.random.choice((len(one) // 2, self.random.randrange(len(one) + 1)))
                both = self.witness(place.kind, one[:at] + other + one[at:])
                yield from () if both is None or broken(both) else (both,)
            if near and self.random.random() < self.near:
                yield self.random.choice(near)
            if built:
                named = [n for c, p in due for n in c.sizes(p, place.name, held) if n <= 400]
                asked = self.random.choice(named) if named and size is None and self.random.random() < 0.6 else size
                yield self.sequence(place.kind, place.constraints, asked, due, held, place.name)
                if self._spoken and self.random.random() < 0.7:
                    continue  # a text that holds nothing of what is spoken of fits, and says little
            value = self.draw(place.kind, place.constraints, size)
            yield value
            wrong = [(c, p) for c, p in due if not c.holds(p, {**held, place.name: value})]
            moved = [self.put(place.kind, value, *to) for c, p in wrong for to in c.goals(p, place.name, held, value)]
            if self.has_items(place.kind):
                gaps = (gap for c, p in wrong for gap in c.gaps(p, place.name, held, value))
                moved += [self.shifted(place.kind, value, gap, self.random.choice) for gap in islice(gaps, 6)]
            yield from (one for one in moved if one is not None and not broken(one))

    def draw(self, kind: TypeRef, constraints: tuple[str, ...] = (), size: int | None = None) -> Any:
        if kind == SIGN:
            return self.random.choice(self.few or (self.random.random() < 0.75 and self._spoken) or self._signs)
        broken = constraint_of(constraints)
        optional = self.root(kind).name in ("Option", "Unit", "Result")
        for _ in range(6):
            value = self._drawn(kind, constraints, size)
            if (value is not None or optional) and not broken(value):
                return value
        raise NoValue

    def _drawn(self, kind: TypeRef, constraints: tuple[str, ...], size: int | None) -> Any:
        spec, chance = self.domain.spec, self.random.random()
        near, results = ((), ()) if size is not None else (self.seen.get(str(kind)), self.results.get(str(kind)))
        if near and chance < self.near:
            return self.random.choice(near)
        if results and chance > 0.75:
            return self.random.choice(results)
        if kind.name in spec.newtypes:
            new = spec.newtypes[kind.name]
            return self.made(kind.name, self.draw(parse_type(new.base), (*constraints, *new.constraints), size))
        if kind.name in spec.data_models:
            if near and chance < max(0.5, self.near + 0.1):
                return next(self.after(kind, near[-1]))
            return self._record(kind.name, size)
        return self._plain(kind, constraints, size)

    def _plain(self, kind: TypeRef, constraints: tuple[str, ...], size: int | None) -> Any:
        random, limits, args = self.random, bounds(constraints), kind.args
        match kind.name:
            case "Int" if self.far and limits.high is None and random.random() < 0.6:
                far = random.choice(self.far) + random.choice((0, 1, -1, 7))
                return far if limits.low is not None or limits.positive else random.choice((far, -far))
            case "Int":
                return self._number(limits) if size is None else self._grown_number(size)
            case "Decimal":
                # What rounds to hundredths must not pass for what does not.
                return self._number(limits) + Decimal(random.choice((0, 0, 10, 50, 100, 250, 990, 5, 15, 999))) / 1000
            case "Float":
                return self._number(limits) + random.choice((0.0, 0.5, 0.25, 0.1, 0.003, 1e-10, -1e-10))
            case "Text" | "String" | "List" | "Set" | "Map":
                return self.sequence(kind, constraints, size)
            case "Option":
                return None if random.random() < 0.2 else self.draw(args[0], (), size)
            case "Tuple":
                return tuple(self.draw(arg) for arg in args)
            case "Result":
                return self.draw(args[0])
            case name if name in _LOOSE:
                return _LOOSE[name](random)
            case name:
                kinds = self.domain.types[name]
                return random.choice(self.among.get(name) or list(kinds)) if name in self.domain.spec.enums else kinds()

    def _number(self, limits: Bounds) -> int:
        random, low = self.random, 1 if limits.positive and limits.low is None else limits.low
        floor, ceiling = _range(low, limits.high)
        if self.alphabet:
            return min(max(random.choice(self.alphabet), floor), ceiling)
        few = range(-8, 12) if low is None else range(max(floor, 0), max(floor, 0) + 12)
        near, known = self.seen.get("number") or few, self.literals.numbers or few
        power = 1 << random.randrange(max(1, ceiling.bit_length()))
        edges = (floor, floor + 1, ceiling, ceiling - 1, 0)
        beside = random.choice((near, near[-20:], near[-20:], known, known))
        between = random.randint(*sorted((int(random.choice(known)), int(random.choice(known)))))
        others = random.choice((few, few, edges, (power, between, random.randint(floor, ceiling))))
        value = random.choice((int(random.choice(beside)) + random.choice((0, 0, 1, -1)), random.choice(others)))
        return min(max(value, floor), ceiling)

    def _text(self, limits: Bounds, size: int | None) -> str:
        random, seen = self.random, self.seen.get("text", ())
        whole = [*self.literals.texts, *seen, *PLAIN]
        one, start = random.choice(whole), random.randrange(20)
        told = [value for held in self.results.values() for value in held if value and isinstance(value, str)]
        near = random.choice(seen or (one, str(self._number(Bounds()))))
        long = random.choice([n for n in self.literals.numbers if n < 65] or [4]) + random.choice((0, 1, -1))
        if size is not None:
            made = self._grown_text(size, one or "a")
        elif self.few:
            made = "".join(random.choices(self.few, k=random.randrange(limits.shortest, limits.shortest + 7)))
        elif self.literals.forms and start < 11:
            made = self.formed(random.choice(self.literals.forms), random.choice((0, 0.1, 0.3)))
            chance = random.random()
            # What strips, or stops at a line's end, takes a form with more around it.
            more = (f" {made}", f"{made} ", f"{made}\n", f"\t{made}") if chance > 0.9 else some_changes(made)
            made = made if chance < 0.6 else random.choice(more)
        elif told and self.most > 3 and start < 9:
            # What a function reads is what another one writes, but for one place.
            made = random.choice(some_changes(random.choice(told)))
        else:
            ways: list[Callable[[], str]] = [
                lambda: one, lambda: random.choice(some_changes(one)),
                lambda: "".join(random.choices(whole, k=random.randrange(1, 4))),
                self._listed, self._listed,
                lambda: random.choice((near.swapcase(), f"{near}\n", f" {near}", near[:-1], near + near[:1])),
                lambda: one[start % (len(one) + 1) :][: random.randrange(1, 6)],
                lambda: str(self._number(Bounds())),
                lambda: str(abs(self._number(Bounds()))).zfill(long),
                lambda: one.ljust(long, random.choice(self._signs)),
                lambda: "".join(random.choices(self._signs, k=random.randrange(limits.shortest + 12))),
            ]  # fmt: skip
            made = random.choice(ways)()
        return made.ljust(limits.shortest, "a")[: limits.longest]

    def _grown_text(self, size: int, one: str) -> str:
        """Return a text of so many signs: any, some again and again, a list, or half of two that are spoken of."""
        word, _, step = self.way.partition(" ")
        if word.isdigit():
            first, second = [*(text for text in self.literals.texts if len(text) < 4), *"a b a"][int(word) :][:2]
            return (first * size)[: size // 2] + (second * size)[: size - size // 2]
        if step == "far":
            return self.random.choice(self._lone or [","]).join(map(str, range(size)))[:size]
        mixed = (self.random.choice((one, self.random.choice(self._signs))) for _ in range(size))
        return (letters(self.way) * size if self.way else "".join(mixed))[:size]

    def _grown_number(self, size: int) -> int:
        """Return a number of a size; the next prime below where it is to be far from others."""
        lower = range(size if "far" in self.way else 0, 1, -1)
        return next((n for n in lower if all(n % d for d in range(2, isqrt(n) + 1))), size)

    def formed(self, form: str, slips: float = 0.0) -> str:
        """Return a text of a form, or just outside of it; now and then its numbers are some that are spoken of."""
        known, often = self.literals.numbers or (0,), self.random.choice((0, 0.5))
        numbers = (str(abs(self.random.choice(known) + self.random.choice((0, 0, 1, -1)))) for _ in repeat(0))
        made = formed(form, self.random, slips)
        return _DIGITS.sub(
            lambda run: next(numbers).zfill(len(run[0])) if self.random.random() < often else run[0], made
        )

    def _listed(self) -> str:
        """Return a text of few words, cut twice by signs that code and contract speak of."""
        signs, words = [one for one in self.literals.texts if not one.isalnum()] or [" ", ","], self.random.choices
        (outer, inner), few = words(signs, k=2), self.random.choice((("a", "b"), ("a", "b", "1", "")))
        many = self.random.randrange(1, 4)
        return outer.join(inner.join(words(few, k=self.random.randrange(1, 3))) for _ in range(many))

    @cached_property
    def _signs(self) -> str:
        spoken = "".join(self.literals.texts)
        # Many functions of a language end lines at more signs than one. Of two letters the other case alone is ASCII.
        others = "\r\f\u2028" * ("\n" in spoken) + "\u212a\u017f" * self.cased
        return "".join(sorted({*spoken, *"abcABZ019 ,-_Éß٣", *others}))

    def sequence(
        self, kind: TypeRef, constraints: tuple[str, ...], size: int | None,
        due: _Due = (), held: Mapping[str, Any] | None = None, name: str = "",
    ) -> Any:  # fmt: skip
        """Return a text, list, set or map; ``None`` where its type does not allow what was made.

        Args:
            size: of how many items; ``None`` is any number.
            due: what must hold when it stands under a name, beside what is held.
        """
        base, constraints = self.root(kind), (*constraints, *constraints_of(self.domain.spec, kind.name))
        limits = bounds(constraints)
        if base.name in TEXTUAL and not due:
            return self.witness(kind, self._text(limits, size))
        many = self._many(limits) if size is None else min(size, limits.longest or size)
        form, others = _FORMS.get(base.name, tuple), held or {}
        broken = constraint_of(tuple(one for one in constraints if one in ("sorted", "distinct")))
        item = SIGN if base.name in TEXTUAL else base.args[0]
        beginnings, last = self._beginnings(item, [one for one in due if _all_hold([one], {**others, name: form(())})])
        self._spoken = "".join(str(one) for _, part in due for one in constants(part.text) if item == SIGN)
        if many <= _MOST and self._has_length(item):
            # Rows of a table are as long as each other, or as something beside it.
            beside = [size for value in others.values() if 0 <= (size := size_of(value)) <= _MOST]
            self.each = self.random.choice((many, self.random.randrange(4), None, *beside[:2]))

        def holds(items: Sequence[Any]) -> bool:
            return (
                not broken(items) and self.apart(item, items) and _all_hold(beginnings, {**others, name: form(items)})
            )

        distinct = base.name in ("Set", "Map")
        drawn = self.random.sample(_WAYS, 3) if size is None else [self.way]
        ways = ["equal"] if len(self.alphabet) == 1 else drawn
        items: list[Any] = []
        while many and ways and 2 * len(items) < many:
            items = max(items, self.built(item, many, holds, ways.pop(), distinct=distinct), key=len)
            if not items and beginnings:  # what holds of nothing need not be meant for each beginning
                beginnings.clear()
                ways = ways or [""]
        turned = items if size is not None else self.random.choice((items, items, items[::-1], sorted(items, key=repr)))
        items = turned if turned is items or holds(turned) else items
        if last:
            ends = (n for n in range(len(items), 0, -1) if _all_hold(due, {**others, name: form(items[:n])}))
            items = items[: next(ends, len(items))]
        self.each = None
        if base.name != "Map":
            return self.witness(kind, form(items))
        values = [] if size is None else self.built(base.args[1], many, lambda _: True, self.way, distinct=False)
        return self.witness(
            kind, dict(zip(items, chain(values, (self.draw(base.args[1]) for _ in items)), strict=False))
        )

    def _has_length(self, item: TypeRef) -> bool:
        return self.root(item).name in ("List", *TEXTUAL)

    def _beginnings(self, item: TypeRef, due: _Due) -> tuple[list[tuple[Condition, Part]], _Due]:
        """Return what is to hold of each beginning of a sequence, and what of the whole alone.

        What is said of all items is said of each beginning; of anything else that is only likely.
        """
        nested = self._has_length(item)
        each, often = "len(" if nested else "", 0.8 if nested or item == SIGN else 0.4
        likely = [(c, p) for c, p in due if not p.text.startswith("all(") or (each and each in p.text)]
        last = [one for one in likely if self.random.random() < often]
        return [one for one in due if one not in last], last

    def _many(self, limits: Bounds) -> int:
        """Return of how many items something is that need not be long."""
        most = max(self.most, limits.shortest + 2) if limits.longest is None else limits.longest
        named = [n for n in self.literals.numbers if limits.shortest <= n <= min(limits.longest or 64, 64)]
        if named and self.most > 3 and self.random.random() < 0.1:  # beside many others it is short
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


def _words(place: Hole, due: _Due) -> tuple[str, ...]:
    return place.name, *(part.text for _, part in due)


def _all_hold(due: _Due, held: Mapping[str, Any]) -> bool:
    return all(condition.holds(part, held) for condition, part in due)


def _days(random: Random) -> int:
    return random.choice((*_DAYS, random.choice(_CENTURIES), random.randrange(-50_000, 30_000)))
