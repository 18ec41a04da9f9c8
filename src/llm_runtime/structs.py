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
        compared = _reader(type(self), "compare")
        return compared(self) == compared(other)

    def __hash__(self) -> int:
        return hash(_reader(type(self), "hash")(self))


@cache
def _reader(record: Any, use: str) -> Callable[[object], object]:
    """Return what reads of a record of this class what counts for a use: ``"compare"`` or ``"hash"``."""
    names = [one.name for one in fields(record) if (one.compare if getattr(one, use) is None else getattr(one, use))]
    return attrgetter(*names) if names else type
