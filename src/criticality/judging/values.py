"""Values that a function is tried with: small ones, texts changed in one place, drawn ones, long ones.

Everything is constructed, by relation where it can be: a later number lies beside an earlier one, a record is an
earlier one with one field replaced. What a clause rules out is repaired before it is left out.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from itertools import islice, product
from random import Random
from typing import Any
from uuid import UUID

from criticality.judging.domain import Domain, Unfit, constraint_of
from criticality.judging.repair import Condition, apart, ordered, repaired
from criticality.spec.literals import Literals
from criticality.spec.types import TypeRef, parse_type
from criticality.spec.values import Bounds, bounds

_FAR = 10**6
_TEXTS = ("", "a", "b", "ab", "ba", "A", "0", " ", "aa", "abcabc")
_SIGNS = "09٣./-+_ \n"
_TEXTUAL = ("Text", "String")
#: Sizes of long values, and how many other arguments are drawn beside each.
_SIZES = ((64, 4), (300, 1))
#: How items of a long list are made: drawn, or with one number or all of them a step further each time.
_FAMILIES = ("", "one 1", "one 3", "all 4")
_NUMERIC: dict[str, Callable[[int], Any]] = {"Int": int, "Float": float, "Decimal": Decimal}


@dataclass(frozen=True, slots=True)
class Case:
    """Arguments, and where they come from: ``pinned``, ``small``, ``text``, ``drawn`` or ``long``."""

    args: tuple[Any, ...]
    origin: str


@dataclass(frozen=True, slots=True)
class Counts:
    """How many cases of each origin are made at most."""

    small: int = 600
    text: int = 1200
    drawn: int = 300


class Values:
    """Values of a specification's types, always the same for the same seed.

    Args:
        literals: the constants that contracts and claims are written with.
        results: values that accepted functions gave, by type.
    """

    def __init__(
        self, domain: Domain, literals: Literals, seed: str, results: Mapping[str, Sequence[Any]] | None = None
    ) -> None:
        self.domain, self.literals, self.results = domain, literals, results or {}
        self.random = Random(int.from_bytes(hashlib.sha256(seed.encode()).digest()[:8], "big"))
        self._small: dict[tuple[str, tuple[str, ...]], list[Any]] = {}
        self._seen: dict[str, list[Any]] = {}
        self._family = ""

    def cases(
        self,
        kinds: Sequence[tuple[str, TypeRef]],
        conditions: Sequence[Condition],
        pinned: Sequence[tuple[Any, ...]] = (),
        counts: Counts | None = None,
    ) -> Iterator[Case]:
        """Yield cases for named values of some types, each once, that fulfil the conditions."""
        counts = counts or Counts()
        known: set[str] = set()
        stages: tuple[tuple[str, Iterator[tuple[Any, ...]], int], ...] = (
            ("pinned", iter(pinned), len(pinned)),
            ("small", self._scope(kinds, 4 * counts.small), counts.small),
            ("text", self._changed(kinds, 4 * counts.text), counts.text),
            ("drawn", self._drawn(kinds, counts.drawn), counts.drawn),
            ("long", self._long(kinds), 5 * len(_FAMILIES) * len(kinds)),
        )
        for origin, stage, most in stages:
            for args in islice(self._fitting(kinds, stage, conditions, known), most if kinds else 1):
                yield Case(args, origin)

    def _fitting(
        self,
        kinds: Sequence[tuple[str, TypeRef]],
        stage: Iterator[tuple[Any, ...]],
        conditions: Sequence[Condition],
        known: set[str],
    ) -> Iterator[tuple[Any, ...]]:
        names = [name for name, _ in kinds]
        for args in stage:
            held = dict(zip(names, args, strict=True))
            fitted = repaired(held, dict(kinds), conditions, self)
            if fitted is None:
                continue
            args = tuple(fitted[name] for name in names)
            key = repr(args)
            if key not in known:
                known.add(key)
                yield args

    def _scope(self, kinds: Sequence[tuple[str, TypeRef]], most: int) -> Iterator[tuple[Any, ...]]:
        pools = [self.small(kind) for _, kind in kinds]
        total = 1
        for pool in pools:
            total *= max(1, len(pool))
        if total <= most:
            yield from product(*pools)
            return
        for number in range(most):
            if number < max(map(len, pools)):  # every value of every pool once, beside the first of the others
                yield tuple(pool[number % len(pool)] for pool in pools)
            yield tuple(self.random.choice(pool) for pool in pools)

    def _changed(self, kinds: Sequence[tuple[str, TypeRef]], most: int) -> Iterator[tuple[Any, ...]]:
        """Texts that differ from a whole one in one place; everything else is small."""
        textual = [at for at, (_, kind) in enumerate(kinds) if self.root(kind).name in _TEXTUAL]
        pools = [self.small(kind) for _, kind in kinds]
        made = 0
        for at in textual:
            kind = kinds[at][1]
            numbers = [str(n) for n in (*self.literals.numbers, 7, 10, 255)]
            results = [str(v) for v in self.results.get(str(kind), ())][:12]
            whole = dict.fromkeys([*self.literals.examples, *results, *self.literals.texts, *numbers])
            for text in dict.fromkeys(change for one in whole for change in (one, *changes(one))):
                value = self.witness(kind, text)
                if value is None:
                    continue
                others = [self.random.choice(pool) for pool in pools]
                others[at] = value
                yield tuple(others)
                made += 1
                if made >= most:
                    return

    def _drawn(self, kinds: Sequence[tuple[str, TypeRef]], count: int) -> Iterator[tuple[Any, ...]]:
        for _ in range(2 * count if kinds else 1):
            self._seen, self._family = {}, ""
            drawn = [self.draw(kind) for _, kind in kinds]
            if None not in drawn or any(self.root(k).name in ("Option", "Unit") for _, k in kinds):
                yield tuple(drawn)

    def _long(self, kinds: Sequence[tuple[str, TypeRef]]) -> Iterator[tuple[Any, ...]]:
        """Long values of each argument that can be long: drawn, or families of items that lie beside each other."""
        for at, (_, kind) in enumerate(kinds):
            for (size, beside), family in product(_SIZES if self._grows(kind) else (), _FAMILIES):
                self._seen, self._family = {}, family
                whole = self.draw(kind, size=size)
                for _ in range(beside if whole is not None and len(kinds) > 1 else 1):
                    yield tuple(whole if other == at else self.draw(k) for other, (_, k) in enumerate(kinds))

    def family(self, kind: TypeRef, size: int, name: str) -> list[Any]:
        """Return items that differ in one number, or in all of theirs alike; fewer where there are fewer.

        Args:
            name: ``one N``, where one number grows by N from item to item, or ``all N``.
        """
        which, _, step = name.partition(" ")
        root, spec = self.root(kind), self.domain.spec
        if root.name in _NUMERIC:
            made = (self.witness(kind, _NUMERIC[root.name](n * int(step))) for n in range(size))
            return [item for item in made if item is not None]
        if root.name not in spec.data_models:
            return []
        fields = spec.data_models[root.name].fields
        numeric = [f.name for f in fields if self.root(parse_type(f.type)).name in _NUMERIC]
        best: list[Any] = []
        for moved in [numeric] if which == "all" else [[field] for field in numeric]:
            for base in self.small(root)[::-1]:
                items: list[Any] = []
                for n in range(size):
                    held = {f.name: getattr(base, f.name) for f in fields}
                    for f in (f for f in fields if f.name in moved):
                        held[f.name] = self.witness(parse_type(f.type), held[f.name] + n * int(step))
                    item = None if None in held.values() else self._made(root.name, *held.values())
                    items += [item] if item is not None else []
                    if len(items) <= n // 2:
                        break
                best = max(best, items, key=len)
                if len(best) == size:
                    return best
        return best

    def _holds(self, kind: TypeRef) -> bool:
        """Tell whether a type is a record, or a list of records that hold lists: those stay short inside."""
        root = self.root(kind)
        return root.name in self.domain.spec.data_models

    def _grows(self, kind: TypeRef) -> bool:
        """Tell whether values of a type can be long: sequences, texts, and records that hold some."""
        root = self.root(kind)
        if root.name not in self.domain.spec.data_models:
            return root.name in ("List", "Set", "Map", *_TEXTUAL)
        fields = self.domain.spec.data_models[root.name].fields
        return any(self.root(parse_type(field.type)).name in ("List", "Set", "Map") for field in fields)

    def small(self, kind: TypeRef, constraints: tuple[str, ...] = ()) -> list[Any]:
        """Return the simplest values of a type, and those at its edges."""
        key = (str(kind), constraints)
        if key not in self._small:
            broken = constraint_of(list(constraints))
            made = list(self._simplest(kind, constraints))
            members = {repr(value): value for value in made if not broken(value)}
            self._small[key] = list(members.values())[:60]
        return self._small[key]

    def _simplest(self, kind: TypeRef, constraints: tuple[str, ...]) -> Iterator[Any]:
        spec, args = self.domain.spec, kind.args
        limits = bounds(constraints)
        match kind.name:
            case "Int":
                yield from self._whole(limits)
            case "Decimal":
                parts = {Decimal(text) for text in ("0.01", "0.5", "9.99", "-0.01")}
                yield from sorted(parts.union(map(Decimal, self._whole(limits))), key=lambda d: (abs(d), d))
            case "Float":
                yield from (float(n) for n in self._whole(limits))
                yield from (0.5, 0.1, -0.5)
            case "Text" | "String":
                yield from (*_TEXTS, *self.literals.examples, *self.literals.texts)
                if limits.shortest > 1:
                    yield from (("ab" * limits.shortest)[: limits.shortest], "z" * limits.shortest)
                if limits.longest:
                    yield "ab" * (limits.longest // 2) + "a" * (limits.longest % 2)
            case "Bool":
                yield from (False, True)
            case "Bytes":
                yield from (b"", b"\0", b"ab", b"\xff\x80")
            case "UUID":
                yield from (UUID(int=0), UUID(int=1), UUID(int=(1 << 128) - 1))
            case "Date":
                start = date(2024, 2, 29)
                yield from (start + timedelta(days=days) for days in (0, -1, 1, 307, 308, -20_000))
            case "Timestamp":
                noon = datetime(2024, 2, 29, 12)
                yield from (noon + timedelta(seconds=s) for s in (0, 1, -1, 43_200, 86_400, 0.000_001))
            case "Unit":
                yield None
            case "List" | "Set":
                yield from self._collections(kind, args[0], limits)
            case "Option":
                yield None
                yield from self.small(args[0])[:12]
            case "Map":
                keys, values = self.small(args[0])[:4], self.small(args[1])[:4]
                yield {}
                yield from ({k: v} for k, v in product(keys, values))
                yield dict(zip(keys, values, strict=False))
            case "Tuple":
                yield from islice(product(*(self.small(arg)[:8] for arg in args)), 60)
            case "Result":
                yield from self.small(args[0])
            case name if name in spec.enums:
                yield from self.domain.types[name]
            case name if name in spec.newtypes:
                new = spec.newtypes[name]
                inside = self.small(parse_type(new.base), (*constraints, *new.constraints))
                yield from (v for item in inside if (v := self._made(name, item)) is not None)
            case name if name in spec.data_models:
                yield from self._records(name)
            case name:
                yield self.domain.types[name]()

    def _whole(self, limits: Bounds) -> list[int]:
        low = 1 if limits.positive and limits.low is None else limits.low
        edges = [0, 1, 2, 3, -1, -2, 10]
        if low is not None:
            edges += range(low, low + 4)
        if limits.high is not None:
            edges += range(limits.high - 3, limits.high + 1)
        edges += [n + d for n in self.literals.numbers for d in (0, 1, -1)]
        edges += [-_FAR if low is None else low + 1000, _FAR if limits.high is None else limits.high]
        floor, ceiling = -(2**62) if low is None else low, 2**62 if limits.high is None else limits.high
        return [n for n in dict.fromkeys(edges) if floor <= n <= ceiling]

    def _collections(self, kind: TypeRef, item: TypeRef, limits: Bounds) -> Iterator[Any]:
        pool = self.small(item)

        def form(items: Sequence[Any]) -> Any:
            return frozenset(items) if kind.name == "Set" else tuple(apart(self.domain, item, items))

        yield form(())
        yield from (form((value,)) for value in pool[:16])
        yield from (form(pair) for pair in product(pool[:6], pool[:6]))
        yield from (form(pool[start : start + 3]) for start in range(0, len(pool), 3))
        for size in {max(1, limits.shortest), limits.longest or 5}:
            if pool:
                yield form([pool[n % len(pool)] for n in range(min(size, 300))])

    def _records(self, name: str) -> Iterator[Any]:
        fields = self.domain.spec.data_models[name].fields
        pools = [self.small(parse_type(f.type), tuple(f.constraints)) for f in fields]
        if not all(pools):
            return
        order = Random(name)
        total = 1
        for pool in pools:
            total *= len(pool)
        combined = product(*pools) if total <= 400 else (tuple(map(order.choice, pools)) for _ in range(300))
        made: list[Any] = []
        for held in combined:
            record = self.record(name, dict(zip((f.name for f in fields), held, strict=True)))
            if record is not None and record not in made:
                made.append(record)
                if len(made) >= 60:
                    break
        yield from made

    def record(self, name: str, held: dict[str, Any]) -> Any:
        """Return a record of some fields, its invariants repaired; ``None`` where they cannot be."""
        kinds, conditions = self._rules(name)
        fitted = repaired(held, kinds, conditions, self)
        return None if fitted is None else self._made(name, *fitted.values())

    def _rules(self, name: str) -> tuple[dict[str, TypeRef], list[Condition]]:
        model = self.domain.spec.data_models[name]
        kinds = {f.name: parse_type(f.type) for f in model.fields}
        return kinds, [Condition(self.domain, text) for text in self.domain.invariants[name]]

    def draw(self, kind: TypeRef, constraints: tuple[str, ...] = (), size: int | None = None) -> Any:
        """Return a value of a type; ``None`` where none was made that its type allows.

        Args:
            size: items of a list, characters of a text.
        """
        random, spec = self.random, self.domain.spec
        key, earlier = str(kind), self._seen.setdefault(str(kind), [])
        if size is None and earlier and random.random() < 0.25:
            return random.choice(earlier)
        results = self.results.get(key)
        if size is None and results and random.random() < 0.25:
            value = random.choice(results)
        elif kind.name in spec.newtypes:
            new = spec.newtypes[kind.name]
            inside = self.draw(parse_type(new.base), (*constraints, *new.constraints), size)
            value = self._made(kind.name, inside)
        elif kind.name in spec.data_models:
            value = self._neighbour(kind.name, earlier, size)
        else:
            value = self._plain(kind, constraints, size)
        if value is None or constraint_of(list(constraints))(value):
            pool = self.small(kind, constraints)
            value = random.choice(pool) if pool and size is None else None
        if value is not None:
            earlier.append(value)
        return value

    def _neighbour(self, name: str, earlier: Sequence[Any], size: int | None) -> Any:
        """Return a new record, or an earlier one with one field replaced."""
        fields = self.domain.spec.data_models[name].fields
        if size is not None:
            held = {
                f.name: self.draw(
                    of, tuple(f.constraints), size if self._grows(of) and not self._holds(of) else None
                )
                for f in fields
                for of in (parse_type(f.type),)
            }
        elif earlier and self.random.random() < 0.5:
            old = self.random.choice(earlier)
            held = {f.name: getattr(old, f.name) for f in fields}
            chosen = self.random.choice(fields)
            held[chosen.name] = self.draw(parse_type(chosen.type), tuple(chosen.constraints))
        else:
            held = {f.name: self.draw(parse_type(f.type), tuple(f.constraints)) for f in fields}
        return self.record(name, held)

    def _plain(self, kind: TypeRef, constraints: tuple[str, ...], size: int | None) -> Any:
        random, limits = self.random, bounds(constraints)
        match kind.name:
            case "Int":
                return self._number(limits)
            case "Decimal":
                return Decimal(self._number(limits)) + Decimal(random.choice((0, 0, 1, 5, 10, 25, 50, 99))) / 100
            case "Float":
                return self._number(limits) + random.choice((0.0, 0.5, 0.25, 0.1))
            case "Text" | "String":
                return self._text(limits, size)
            case "List" | "Set":
                return self._several(kind, constraints, limits, size)
            case "Map":
                many = random.randrange(6) if size is None else size
                pairs = [(self.draw(kind.args[0]), self.draw(kind.args[1])) for _ in range(many)]
                return {k: v for k, v in pairs if k is not None}
            case "Option":
                return None if random.random() < 0.2 else self.draw(kind.args[0])
            case "Tuple":
                return tuple(self.draw(arg) for arg in kind.args)
            case "Result":
                return self.draw(kind.args[0])
            case "Bytes":
                return random.randbytes(random.randrange(9))
            case "UUID":
                return UUID(int=random.getrandbits(128))
            case "Date":
                return date(2000, 1, 1) + timedelta(days=random.randrange(20_000))
            case "Timestamp":
                return datetime(2000, 1, 1) + timedelta(seconds=random.randrange(10**9))
            case _:
                return random.choice(self.small(kind, constraints))

    def _number(self, limits: Bounds) -> int:
        random = self.random
        low = 1 if limits.positive and limits.low is None else limits.low
        floor = (-_FAR if limits.high is None else min(0, limits.high - _FAR)) if low is None else low
        ceiling = max(_FAR, floor + _FAR) if limits.high is None else limits.high
        near = [int(v) for values in self._seen.values() for v in values[-40:] if isinstance(v, int)]
        match random.randrange(6):
            case 0 | 1 if near:
                value = random.choice(near) + random.choice((0, 1, -1))
            case 2 if self.literals.numbers:
                value = random.choice(self.literals.numbers) + random.choice((0, 1, -1))
            case 3:
                value = 1 << random.randrange(max(1, ceiling.bit_length()))
            case 4:
                value = random.randint(floor, ceiling)
            case _:
                value = max(floor, 0) + random.randrange(12) if low is not None else random.randrange(-8, 12)
        return min(max(value, floor), ceiling)

    def _text(self, limits: Bounds, size: int | None) -> str:
        random = self.random
        whole = [*self.literals.examples, *self.literals.texts, *_TEXTS]
        signs = "".join(sorted({*"".join(whole), *"abcXYZ019 ,-_éß٣"}))
        if size is not None:
            seeds = [t for t in whole if t] or ["a"]
            made = "".join(random.choice((random.choice(seeds), random.choice(signs))) for _ in range(size))[:size]
        else:
            match random.randrange(4):
                case 0:
                    made = random.choice(whole)
                case 1:
                    one = random.choice(whole)
                    made = random.choice([one, *islice(changes(one), 200)])
                case 2:
                    made = "".join(random.choice(whole) for _ in range(random.randrange(1, 4)))
                case _:
                    made = "".join(random.choices(signs, k=random.randrange(limits.shortest + 12)))
        if len(made) < limits.shortest:
            made += "a" * (limits.shortest - len(made))
        return made[: limits.longest]

    def _several(self, kind: TypeRef, constraints: tuple[str, ...], limits: Bounds, size: int | None) -> Any:
        random = self.random
        most = limits.longest if limits.longest is not None else max(8, limits.shortest + 4)
        many = random.choice((0, 1, 2, 2, 3, 4, 6, most)) if size is None else size
        many = max(limits.shortest, min(many, limits.longest or many))
        items = self.family(kind.args[0], many, self._family) if size is not None and self._family else []
        self._seen.setdefault(str(kind.args[0]), []).extend(items[:: max(1, len(items) // 8)])
        if len(items) < many // 2:
            items = [item for _ in range(many) if (item := self._item(kind.args[0], size)) is not None]
        if kind.name == "Set":
            return frozenset(items)
        if size is not None or "distinct" in constraints or "sorted" in constraints or random.random() < 0.3:
            items = list(dict.fromkeys(items)) if "distinct" in constraints or size is not None else items
            items = ordered(items) if "sorted" in constraints or random.random() < 0.5 else items
        return tuple(apart(self.domain, kind.args[0], items))

    def _item(self, kind: TypeRef, size: int | None) -> Any:
        if size is not None:
            self._seen[str(kind)] = self._seen.get(str(kind), [])[-6:]
        return self.draw(kind)

    def _made(self, name: str, *held: Any) -> Any:
        try:
            return self.domain.types[name](*held)
        except (Unfit, ValueError, TypeError, ArithmeticError, AttributeError, IndexError):
            return None

    def witness(self, kind: TypeRef, value: Any) -> Any:
        """Return a value as one of a type, wrapped; ``None`` where the type does not allow it."""
        if kind.name not in self.domain.spec.newtypes:
            return value
        inside = self.witness(parse_type(self.domain.spec.newtypes[kind.name].base), value)
        return None if inside is None else self._made(kind.name, inside)

    def root(self, kind: TypeRef) -> TypeRef:
        """Return what a type comes down to through newtypes."""
        while kind.name in self.domain.spec.newtypes:
            kind = parse_type(self.domain.spec.newtypes[kind.name].base)
        return kind


def changes(text: str) -> Iterator[str]:
    """Yield texts that differ in a single place: a sign put in or left out, a part doubled, dropped, stepped."""
    for at in range(len(text) + 1):
        yield from (text[:at] + sign + text[at:] for sign in _SIGNS)
    yield from (text[:at] + text[at + 1 :] for at in range(len(text)))
    yield from (text.swapcase(), text.upper(), text.lower(), text[::-1])
    for sign in sorted({s for s in text if not s.isalnum()}):
        parts = text.split(sign)
        for at, part in enumerate(parts):
            before, after = parts[:at], parts[at + 1 :]
            others = [[part, part], [""], []]
            others += [[str(int(part) + 1)], [str(int(part) - 1)]] if part.isascii() and part.isdigit() else []
            yield from (sign.join([*before, *other, *after]) for other in others)
        yield from (sign.join([*parts, part]) for part in parts[-1:])
    if text.isascii() and text.isdigit():
        yield from (str(int(text) + 1), str(int(text) - 1))
