"""Records of plain data: a class below :class:`Struct` is a dataclass, frozen and with slots, without saying so."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import dataclass_transform


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
class _StructType(type):
    def __new__(cls, name: str, bases: tuple[type, ...], body: dict[str, object]) -> type:
        made = super().__new__(cls, name, bases, body)
        # `dataclass` makes a class with slots anew, so each comes by here twice; `Struct` itself has no fields.
        done = not bases or "__dataclass_fields__" in body
        return made if done else dataclass(frozen=True, slots=True)(made)


class Struct(metaclass=_StructType):
    """Base of records: ``class Point(Struct)`` stands for ``@dataclass(frozen=True, slots=True) class Point``.

    All of :mod:`dataclasses` works on them: ``field``, ``replace``, ``asdict``. A record that changes is a dataclass
    with its own decorator, and one that holds a ``cached_property`` too.
    """

    __slots__ = ()
