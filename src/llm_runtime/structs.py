"""Records of plain data: a class below :class:`Struct` is a dataclass, frozen and with slots, without saying so."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, fields
from functools import cache
from operator import attrgetter
from typing import Any, dataclass_transform


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
class _StructType(type):
    def __new__(cls, name: str, bases: tuple[type, ...], body: dict[str, object]) -> type:
        made = super().__new__(cls, name, bases, body)
        # `dataclass` makes a class with slots anew, so each comes by here twice; `Struct` itself has no fields.
        done = not bases or "__dataclass_fields__" in body
        # What it would compile for each class anew, which is half of what it takes, they inherit from `Struct`.
        return made if done else dataclass(frozen=True, slots=True, repr=False, eq=False)(made)


class Struct(metaclass=_StructType):
    """Base of records: ``class Point(Struct)`` stands for ``@dataclass(frozen=True, slots=True) class Point``.

    All of :mod:`dataclasses` works on them: ``field``, ``replace``, ``asdict``. A record that changes is a dataclass
    with its own decorator, and one that holds a ``cached_property`` too.
    """

    __slots__ = ()

    def __repr__(self) -> str:
        shown = (one.name for one in fields(self) if one.repr)
        return f"{type(self).__qualname__}({', '.join(f'{name}={getattr(self, name)!r}' for name in shown)})"

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other):
            return NotImplemented
        compared = _compared(type(self))
        return compared(self) == compared(other)

    def __hash__(self) -> int:
        return hash(_hashed(type(self))(self))


@cache
def _compared(record: Any) -> Callable[[object], object]:
    """Return what reads of a record of this class what counts when two are compared."""
    return _reader([one.name for one in fields(record) if one.compare])


@cache
def _hashed(record: Any) -> Callable[[object], object]:
    """Return what reads of it what its hash is made of."""
    return _reader([one.name for one in fields(record) if (one.compare if one.hash is None else one.hash)])


def _reader(names: list[str]) -> Callable[[object], object]:
    return attrgetter(*names) if names else type
