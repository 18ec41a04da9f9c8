"""Values drawn at random, by relation where they can be: beside an earlier one, or an earlier one changed."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime, timedelta
from decimal import Decimal
from itertools import islice
from random import Random
from typing import Any
from uuid import UUID

from criticality.judging.domain import Domain, constraint_of
from criticality.judging.repair import apart, ordered
from criticality.judging.simple import FAR, Simple
from criticality.judging.texts import PLAIN, changes
from criticality.spec.literals import Literals
from criticality.spec.types import TypeRef, parse_type
from criticality.spec.values import Bounds, bounds

TEXTUAL = ("Text", "String")
_NUMERIC: dict[str, Callable[[int], Any]] = {"Int": int, "Float": float, "Decimal": Decimal}


class Drawn(Simple):
    """Values of a specification's types, always the same for the same seed.

    Args:
        literals: the constants that contracts and claims are written with.
        results: values that accepted functions gave, by type.
    """

    def __init__(
        self, domain: Domain, literals: Literals, seed: str, results: Mapping[str, Sequence[Any]] | None = None
    ) -> None:
        super().__init__(domain, literals)
        self.results = results or {}
        self.random = Random(int.from_bytes(hashlib.sha256(seed.encode()).digest()[:8], "big"))
        self._seen: dict[str, list[Any]] = {}
        self._family = ""

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
        floor = (-FAR if limits.high is None else min(0, limits.high - FAR)) if low is None else low
        ceiling = max(FAR, floor + FAR) if limits.high is None else limits.high
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
        whole = [*self.literals.examples, *self.literals.texts, *PLAIN]
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
            return root.name in ("List", "Set", "Map", *TEXTUAL)
        fields = self.domain.spec.data_models[root.name].fields
        return any(self.root(parse_type(field.type)).name in ("List", "Set", "Map") for field in fields)
