"""The simplest values of each type, and those at its edges."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import date, datetime, timedelta
from decimal import Decimal
from itertools import islice, product
from random import Random
from typing import Any
from uuid import UUID

from criticality.judging.domain import Domain, Unfit, constraint_of
from criticality.judging.repair import Condition, apart, repaired
from criticality.judging.texts import PLAIN
from criticality.spec.literals import Literals
from criticality.spec.types import TypeRef, parse_type
from criticality.spec.values import Bounds, bounds

#: A number far from all others.
FAR = 10**6


class Simple:
    """Simple values of a specification's types.

    Args:
        literals: the constants that contracts and claims are written with.
    """

    def __init__(self, domain: Domain, literals: Literals) -> None:
        self.domain, self.literals = domain, literals
        self._small: dict[tuple[str, tuple[str, ...]], list[Any]] = {}

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
                yield from (*PLAIN, *self.literals.examples, *self.literals.texts)
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
        edges += [-FAR if low is None else low + 1000, FAR if limits.high is None else limits.high]
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
