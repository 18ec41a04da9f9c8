"""What values look like: the numbers in them, moved or remembered, and a value put at a place within another."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import fields, is_dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from itertools import accumulate, repeat
from typing import Any, cast

from criticality.judging.domain import Domain, Unfit
from criticality.spec.types import TypeRef, parse_type
from criticality.spec.values import fields_of, root

_NUMBERS = ("Int", "Float", "Decimal")
_NUMERIC = (*_NUMBERS, "Date", "Timestamp")
_PUT: dict[str, Any] = {
    "Int": int, "Text": str, "String": str, "List": tuple, "Decimal": (Decimal, int), "Float": (float, int),
}  # fmt: skip
#: Makes another number of one, by which of several it is.
Turn = Callable[[int, Any], Any]
TEXTUAL = ("Text", "String")
SEQUENCES = ("List", "Set", "Map", *TEXTUAL)
_START = datetime(2000, 1, 1)
#: Items of a sequence that are remembered.
_KNOWN = 12


class Shapes:
    """The values of a specification, taken apart and put together again."""

    def __init__(self, domain: Domain) -> None:
        self.domain = domain
        #: What was made lately, by type; under ``number`` and ``text`` those of all types.
        self.seen: dict[str, list[Any]] = {}
        self._roots = {name: root(domain.spec, TypeRef(name)) for name in domain.spec.newtypes}
        self._fields = {name: fields_of(domain.spec, name) for name in domain.spec.data_models}
        self._keys = {
            name: [(f.name, parse_type(f.type)) for f in model.fields if "unique" in f.constraints]
            for name, model in domain.spec.data_models.items()
        }

    def root(self, kind: TypeRef) -> TypeRef:
        """Return what a type comes down to through newtypes."""
        return self._roots.get(kind.name, kind)

    def made(self, name: str, *held: Any) -> Any:
        """Return a value of a named type; ``None`` where the type does not allow it."""
        try:
            return self.domain.types[name](*held)
        except (Unfit, ValueError, TypeError, ArithmeticError, AttributeError, IndexError):
            return None

    def witness(self, kind: TypeRef, value: Any) -> Any:
        """Return a value as one of a type, wrapped; ``None`` where the type does not allow it."""
        if kind.name not in self.domain.spec.newtypes:
            return value if kind.name != "List" or self.apart(kind.args[0], value) else None
        inside = self.witness(parse_type(self.domain.spec.newtypes[kind.name].base), value)
        return None if inside is None else self.made(kind.name, inside)

    def grows(self, kind: TypeRef) -> bool:
        """Tell whether values of a type can be long: sequences, texts, and records that hold some."""
        kind = self.root(kind)
        if kind.name not in self._fields:
            return kind.name in SEQUENCES
        return any(self.root(of).name in ("List", "Set", "Map") for _, of in self._fields[kind.name])

    def has_items(self, kind: TypeRef) -> bool:
        """Tell whether values of a type are dear to make: sequences, and records that hold some."""
        return self.root(kind).name not in TEXTUAL and self.grows(kind)

    def inside(self, kind: TypeRef, value: Any) -> list[tuple[TypeRef, Any]]:
        """Return what a value is made of, each with its type; nothing where it has no parts."""
        base = self.root(kind)
        if value is None:
            return []
        if base.name in self._fields:
            return [(of, getattr(value, field)) for field, of in self._fields[base.name]]
        match base.name:
            case "Option" | "Result":
                return [(base.args[0], value)]
            case "Tuple":
                return list(zip(base.args, value, strict=True))
            case "List" | "Set":
                return list(zip(repeat(base.args[0]), value, strict=False))
            case "Map":
                keys = zip(repeat(base.args[0]), value, strict=False)
                return [*keys, *zip(repeat(base.args[1]), value.values(), strict=False)]
            case _:
                return []

    def moved(self, kind: TypeRef, value: Any, turn: Turn, at: list[int] | None = None) -> Any:
        """Return a value whose numbers are turned into others; ``None`` where its type does not allow that.

        Args:
            turn: takes which of the numbers it is, and the number.
        """
        at, base = at or [-1], self.root(kind)
        if base.name in _NUMERIC:
            at[0] += 1
            with suppress(ArithmeticError, ValueError):
                return self.witness(kind, _turned(value, lambda n: turn(at[0], n)))
            return None
        parts = [] if base.name in SEQUENCES else self.inside(kind, value)
        if not parts:
            return value
        made = [self.moved(of, one, turn, at) for of, one in parts]
        if made.count(None) > sum(one is None for _, one in parts):
            return None
        if base.name in self._fields:
            return self.made(base.name, *made)
        return tuple(made) if base.name == "Tuple" else made[0]

    def numbers(self, kind: TypeRef, value: Any) -> list[Any]:
        """Return the numbers of a value, those of sequences in it left out."""
        name = self.root(kind).name
        if name in _NUMERIC and value is not None:
            return [_counted(value)]
        inside = [] if name in SEQUENCES else self.inside(kind, value)
        return [number for of, one in inside for number in self.numbers(of, one)]

    def put(self, kind: TypeRef, value: Any, path: tuple[str, ...], goal: Any) -> Any:
        """Return a value with another one at a place within it; ``None`` where the types do not allow that."""
        if not path:
            wanted = _PUT.get(self.root(kind).name, object)
            return self.witness(kind, goal) if isinstance(goal, wanted) else None
        name, held = self.root(kind).name, dict[str, Any]()
        for field, of in self._fields[name]:
            one = getattr(value, field)
            held[field] = self.put(of, one, path[1:], goal) if field == path[0] else one
        return None if held.get(path[0]) is None else self.made(name, *held.values())

    def shifted(self, kind: TypeRef, value: Any, by: Any, one: Callable[[Sequence[Any]], Any]) -> Any:
        """Return a value with one number anywhere in it further by so much; ``None`` where that cannot be.

        Args:
            one: chooses an item, or a field.
        """
        base = self.root(kind)
        if base.name == "List" and value:
            at = one(range(len(value)))
            item = self.shifted(base.args[0], value[at], by, one)
            return None if item is None else self.witness(kind, (*value[:at], item, *value[at + 1 :]))
        if base.name in self._fields:
            name, of = one(self._fields[base.name])
            return self.put(kind, value, (name,), self.shifted(of, getattr(value, name), by, one))
        return self.moved(kind, value, lambda _, n: n + by) if base.name in _NUMERIC else None

    def note(self, kind: TypeRef, value: Any) -> None:
        """Remember a value and what it holds: what is drawn next may lie beside it."""
        if value is None:
            return
        base, items = self.root(kind), list(value)[:_KNOWN] if self.root(kind).name == "List" else []
        parts = self._fields.get(self.root(base.args[0]).name, ()) if items else ()
        for key, new in (
            (str(kind), [value]), ("text", [value] if base.name in TEXTUAL else []),
            ("number", self._counts(kind, value)), *((str(of), [getattr(i, n) for i in items]) for n, of in parts),
        ):  # fmt: skip
            held = self.seen.setdefault(key, [])
            del held[:-60]
            held += new

    def _counts(self, kind: TypeRef, value: Any) -> list[Any]:
        """Return a number itself, or how long a sequence is, the sums of its beginnings and the numbers in it."""
        base = self.root(kind)
        if base.name not in SEQUENCES:
            return [value] if base.name in _NUMBERS else []
        items = [self.numbers(base.args[0], item) for item in list(value)[:_KNOWN]] if base.args else []
        sums = [total for column in zip(*items, strict=False) for total in accumulate(column)]
        return [len(value), *2 * _read(value), *sums[:30], *(number for item in items for number in item[:3])]

    def keys(self, kind: TypeRef) -> list[tuple[str, TypeRef]]:
        """Return the fields of a record that are unique in a list of them."""
        return self._keys.get(self.root(kind).name, [])

    def apart(self, kind: TypeRef, items: Sequence[Any]) -> bool:
        """Tell whether items do not repeat what is unique in them."""
        keys = self.keys(kind)
        return not keys or all(len({getattr(item, key) for item in items}) == len(items) for key, _ in keys)


def _read(value: Any) -> list[int]:
    """Return the number that a text is; nothing for what is none."""
    return [int(value[:18])] if isinstance(value, str) and value.isascii() and value[:18].isdigit() else []


def size_of(value: Any) -> int:
    """Return what n is: of a sequence its items, of a number itself, of a record the longest sequence in it."""
    return value if isinstance(value, int) else _longest(value)


def _longest(value: Any) -> int:
    inside = [_longest(getattr(value, name)) for name in getattr(value, "__dataclass_fields__", ())]
    return len(value) if hasattr(value, "__len__") else max(inside, default=-1)


def spread(cases: Iterable[Sequence[Any]]) -> dict[str, int]:
    """Return how many cases hold a sequence of which size; nothing where they hold none."""
    largest = [max(map(_longest, args), default=-1) for args in cases]
    bins = ((0, 2, "0 to 2"), (3, 12, "3 to 12"), (13, 63, "13 to 63"), (64, 1 << 40, "64 and more"))
    found = {text: sum(low <= size <= high for size in largest) for low, high, text in bins}
    return {text: many for text, many in found.items() if many}


def ordered(items: Sequence[Any]) -> list[Any]:
    """Return items in ascending order, records by their fields; as they are where they have none."""
    with suppress(TypeError):
        return sorted(items, key=_fields)
    return list(items)


def _fields(value: Any) -> Any:
    """Return a record as the tuple of its fields, records and tuples in it too."""
    if is_dataclass(value):
        return tuple(_fields(getattr(value, field.name)) for field in fields(value))
    return tuple(map(_fields, cast("tuple[Any, ...]", value))) if isinstance(value, tuple) else value


def _counted(value: Any) -> Any:
    """Return a number as it is, a day in days and a moment in seconds."""
    if isinstance(value, datetime):
        return int((value - _START).total_seconds())
    return value.toordinal() if isinstance(value, date) else value


def _turned(value: Any, turn: Callable[[Any], Any]) -> Any:
    """Return a number, day or moment whose count is turned into another."""
    if isinstance(value, datetime):
        return _START + timedelta(seconds=turn(_counted(value)))
    return date.fromordinal(turn(_counted(value))) if isinstance(value, date) else turn(value)
