"""Values on the wire: MessagePack, exact, read by the types of the specification and trusted in nothing."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, date, datetime
from decimal import Decimal
from functools import cache
from importlib import import_module
from typing import Any, cast
from uuid import UUID

from criticality.judging.domain import Domain, fields_of
from criticality.lattice_plan import ModulePlan, index
from criticality.spec.types import TypeRef, parse_type

#: Not a function: asked once, the process watches the lines of its sources; asked again, it counts them.
LINES = "#lines"
BIG, DECIMAL, WHEN, DURATION, MAP = 1, 2, 3, 4, 5
_BITS = 1 << 63


class Unreadable(ValueError):
    """What came over the wire is no value of the type that was promised; one line says why."""


@cache
def _msgpack() -> Any:
    """Return the library, which has no types of its own and comes with the extra ``code``."""
    return import_module("msgpack")


def pack(value: Any) -> bytes:
    """Return a value of the wire as bytes."""
    return bytes(_msgpack().packb(value))


def _extended(code: int, data: bytes) -> Any:
    return _msgpack().ExtType(code, data)


def unpack(data: bytes) -> Any:
    """Read a value of the wire; extensions come as ``msgpack.ExtType``.

    Raises:
        Unreadable: it is none, or nested too deep.
    """
    try:
        return _msgpack().unpackb(data, strict_map_key=False)
    except (ValueError, RecursionError, _msgpack().exceptions.UnpackException):
        raise Unreadable("its answer cannot be read") from None


class Codec:
    """Between the judge's values and those of the wire, for the functions of a plan."""

    def __init__(self, domain: Domain, plan: tuple[ModulePlan, ...]) -> None:
        self.domain = domain
        self.functions = {name: function for name, (_, function) in index(plan).items()}

    def request(self, name: str, args: Sequence[Any]) -> list[Any]:
        """Return the arguments of a call as they go out."""
        if name == LINES:
            return []
        params = self.functions[name.partition("#")[0]].parameters
        return [self.out(value, p.type) for value, p in zip(args, params, strict=True)]

    def arguments(self, name: str, args: Any) -> tuple[Any, ...]:
        """Read the arguments of a call that a body made.

        Raises:
            Unreadable: they are not of the parameters' types.
        """
        params = self.functions[name].parameters
        if not isinstance(args, list) or len(cast("list[Any]", args)) != len(params):
            raise Unreadable("it reports a call with other arguments than the function has")
        return tuple(self.read(value, p.type) for value, p in zip(cast("list[Any]", args), params, strict=True))

    def result(self, name: str, value: Any) -> Any:
        """Read the result of a function.

        Raises:
            Unreadable: it is not of the promised type.
        """
        short, work, _ = name.partition("#")
        if name == LINES:
            return self.read(value, TypeRef("List", (TypeRef("Int"),)))
        return self.read(value, TypeRef("Int") if work else self.functions[short].result)

    def out(self, value: Any, kind: TypeRef) -> Any:
        """Return a value of a type as the wire has it."""
        spec = self.domain.spec
        args = kind.args
        match kind.name:
            case "Int":
                return int(value) if -_BITS <= value < 2 * _BITS else _extended(BIG, str(int(value)).encode())
            case "Bool":
                return bool(value)
            case "Float":
                return float(value)
            case "Decimal":
                return _extended(DECIMAL, str(Decimal(value)).encode())
            case "Text" | "String":
                return str(value)
            case "Bytes":
                return bytes(value)
            case "UUID":
                return str(value)
            case "Date" | "Timestamp":
                return _extended(WHEN, value.isoformat().encode())
            case "Unit":
                return None
            case "List" | "Set":
                return [self.out(item, args[0]) for item in value]
            case "Tuple":
                return [self.out(item, arg) for item, arg in zip(value, args, strict=True)]
            case "Option":
                return None if value is None else self.out(value, args[0])
            case "Map":
                pairs = [[self.out(k, args[0]), self.out(v, args[1])] for k, v in value.items()]
                return _extended(MAP, pack(pairs))
            case "Result":
                return self.out(value, args[0])
            case name if name in spec.enums:
                return value.value
            case name if name in spec.newtypes:
                return self.out(value, parse_type(spec.newtypes[name].base))
            case name if name in spec.data_models:
                return [self.out(getattr(value, field), of) for field, of in fields_of(spec, name)]
            case name:
                return name  # an error of the specification is its name

    def read(self, value: Any, kind: TypeRef) -> Any:
        """Read a value of a type.

        Raises:
            Unreadable: it is none: of another form, or it breaks what the type promises.
        """
        try:
            return self._read(value, kind)
        except Unreadable:
            raise
        except (ValueError, TypeError, ArithmeticError, AttributeError, UnicodeError) as fault:
            raise Unreadable(f"its result is no {kind}: {str(fault)[:200]}") from None

    def _read(self, value: Any, kind: TypeRef) -> Any:
        spec, args = self.domain.spec, kind.args
        match kind.name:
            case "Int":
                if isinstance(value, int) and not isinstance(value, bool):
                    return value
                return int(_extension(value, BIG))
            case "Bool":
                return _of(bool, value, kind)
            case "Float":
                return float(value) if isinstance(value, int) else _of(float, value, kind)
            case "Decimal":
                return Decimal(_extension(value, DECIMAL))
            case "Text" | "String":
                return _of(str, value, kind)
            case "Bytes":
                return _of(bytes, value, kind)
            case "UUID":
                return UUID(_of(str, value, kind))
            case "Date":
                return date.fromisoformat(_extension(value, WHEN)[:10])  # some languages have one type for both
            case "Timestamp":
                when = datetime.fromisoformat(_extension(value, WHEN))
                return when.astimezone(UTC).replace(tzinfo=None) if when.tzinfo else when
            case "Unit":
                if value is not None:
                    raise Unreadable("it returns something, and nothing is what it returns")
                return None
            case "List":
                return tuple(self._read(item, args[0]) for item in _of(list, value, kind))
            case "Set":
                return frozenset(self._read(item, args[0]) for item in _of(list, value, kind))
            case "Tuple":
                return tuple(self._read(v, arg) for v, arg in zip(_of(list, value, kind), args, strict=True))
            case "Option":
                return None if value is None else self._read(value, args[0])
            case "Map":
                pairs = unpack(_raw(value, MAP))
                return {self._read(k, args[0]): self._read(v, args[1]) for k, v in pairs}
            case "Result":
                return self._read(value, args[0])
            case name if name in spec.enums:
                return self.domain.types[name](_of(str, value, kind))
            case name if name in spec.newtypes:
                return self.domain.types[name](self._read(value, parse_type(spec.newtypes[name].base)))
            case name if name in spec.data_models:
                fields = fields_of(spec, name)
                items = zip(_of(list, value, kind), fields, strict=True)
                return self.domain.types[name](*(self._read(item, of) for item, (_, of) in items))
            case name:
                return self.domain.types[name]()


def _of(wanted: type, value: Any, kind: TypeRef) -> Any:
    if not isinstance(value, wanted):
        raise Unreadable(f"its result is no {kind}")
    return value


def _raw(value: Any, code: int) -> bytes:
    if not isinstance(value, _msgpack().ExtType) or value.code != code:
        raise Unreadable("its result has another type than was promised")
    return value.data


def _extension(value: Any, code: int) -> str:
    return _raw(value, code).decode("ascii")


def same(one: Any, other: Any) -> bool:
    """Tell whether two values are the same to the bit: NaN is itself, and a list is a tuple."""
    if isinstance(one, float) and isinstance(other, float):
        return one == other or (one != one and other != other)
    if isinstance(one, tuple | list) and isinstance(other, tuple | list):
        first, second = cast("tuple[Any, ...]", one), cast("tuple[Any, ...]", other)
        return len(first) == len(second) and all(map(same, first, second))
    return isinstance(one, bool) == isinstance(other, bool) and bool(one == other)


def to_json(value: Any) -> Any:
    """Return a value of the wire as JSON has it; what JSON lacks is an object that names it."""
    match value:
        case list():
            return [to_json(item) for item in cast("list[Any]", value)]
        case bytes():
            return {"bytes": value.hex()}
        case float() if value != value or value in (float("inf"), float("-inf")):
            return {"float": str(value)}
        case _ if isinstance(value, _msgpack().ExtType):
            return {"ext": value.code, "hex": value.data.hex()}
        case _:
            return value


def from_json(value: Any) -> Any:
    """Read a value of the wire from JSON."""
    match value:
        case list():
            return [from_json(item) for item in cast("list[Any]", value)]
        case {"bytes": str(digits)}:
            return bytes.fromhex(digits)
        case {"float": str(text)}:
            return float(text)
        case {"ext": int(code), "hex": str(digits)}:
            return _extended(code, bytes.fromhex(digits))
        case _:
            return value
