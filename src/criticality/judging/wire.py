"""Values on the wire: MessagePack, exact, read by the types of the specification and trusted in nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from datetime import UTC, date, datetime
from decimal import Decimal
from functools import cache
from importlib import import_module
from operator import attrgetter
from typing import Any, TypeAlias, cast
from uuid import UUID

from criticality.judging.domain import Domain
from criticality.lattice_plan import ModulePlan, index
from criticality.spec.types import TypeRef, parse_type
from criticality.spec.values import fields_of

#: Not a function: asked once, the process watches what runs of its bodies; asked again, it tells what did not.
PLACES = "#places"
BIG, DECIMAL, WHEN, DURATION, MAP = 1, 2, 3, 4, 5
_BITS = 1 << 63
#: From here on JSON's numbers are not exact.
_SAFE = 1 << 53
_Turn: TypeAlias = Callable[[Any], Any]


class Unreadable(ValueError):
    """What came over the wire is no value of the type that was promised; one line says why."""


@cache
def _msgpack() -> Any:
    """Return the library, which has no types of its own and comes with the extra ``code``."""
    return import_module("msgpack")


def pack(value: Any) -> bytes:
    """Return a value of the wire as bytes."""
    return bytes(_msgpack().packb(value))


def array(parts: Sequence[bytes]) -> bytes:
    """Return an array of values that are bytes already."""
    return bytes(_msgpack().Packer().pack_array_header(len(parts))) + b"".join(parts)


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


def _whole(value: Any) -> Any:
    return int(value) if -_BITS <= value < 2 * _BITS else _extended(BIG, str(int(value)).encode())


def _when(value: Any) -> Any:
    return _extended(WHEN, value.isoformat().encode())


#: How values without parts are written and read.
_SCALARS: dict[str, tuple[_Turn, _Turn]] = {
    "Int": (_whole, lambda v: v if type(v) is int else int(_extension(v, BIG))),
    "Float": (float, lambda v: float(v) if type(v) is int else _of(float, v, "Float")),
    "Decimal": (lambda v: _extended(DECIMAL, f"{Decimal(v):f}".encode()), lambda v: Decimal(_extension(v, DECIMAL))),
    "Bool": (bool, lambda v: _of(bool, v, "Bool")),
    "Bytes": (bytes, lambda v: _of(bytes, v, "Bytes")),
    "Text": (str, lambda v: _of(str, v, "Text")),
    "String": (str, lambda v: _of(str, v, "String")),
    "UUID": (str, lambda v: UUID(_of(str, v, "UUID"))),
    # Some languages have one type for both.
    "Date": (_when, lambda v: date.fromisoformat(_extension(v, WHEN)[:10])),
    "Timestamp": (_when, lambda v: _moment(_extension(v, WHEN))),
    "Unit": (lambda v: None, lambda v: _of(type(None), v, "Unit")),
}


class Codec:
    """Between the judge's values and those of the wire, for the functions of a plan."""

    def __init__(self, domain: Domain, plan: tuple[ModulePlan, ...]) -> None:
        self.domain = domain
        self.functions = {name: function for name, (_, function) in index(plan).items()}
        self._writer, self._reader = cache(self._made_writer), cache(self._made_reader)

    def request(self, name: str, args: Sequence[Any]) -> list[Any]:
        """Return the arguments of a call as they go out."""
        if name == PLACES:
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

    def cases(self, name: str, cases: Iterable[Sequence[Any]]) -> Iterator[tuple[tuple[Any, ...], str, Any]]:
        """Yield arguments, error (empty where it returned) and result of cases that were kept as JSON.

        Those that the types of today do not admit are left out.
        """
        for args, status, value in cases:
            with suppress(Unreadable):
                read = self.arguments(name, from_json(args))
                error = str(value[0]) if status else ""
                yield read, error, None if status else self.result(name, from_json(value))

    def result(self, name: str, value: Any) -> Any:
        """Read the result of a function.

        Raises:
            Unreadable: it is not of the promised type.
        """
        short, work, _ = name.partition("#")
        if name == PLACES:
            return self.read(value, TypeRef("List", (TypeRef("Text"),)))
        return self.read(value, TypeRef("Int") if work else self.functions[short].result)

    def out(self, value: Any, kind: TypeRef) -> Any:
        """Return a value of a type as the wire has it."""
        return self._writer(kind)(value)

    def read(self, value: Any, kind: TypeRef) -> Any:
        """Read a value of a type.

        Raises:
            Unreadable: it is none: of another form, or it breaks what the type promises.
        """
        try:
            return self._reader(kind)(value)
        except Unreadable:
            raise
        except (ValueError, TypeError, ArithmeticError, AttributeError, UnicodeError) as fault:
            raise Unreadable(f"its result is no {kind}: {str(fault)[:200]}") from None

    def _made_writer(self, kind: TypeRef) -> _Turn:
        spec, inside = self.domain.spec, [self._writer(arg) for arg in kind.args]
        match kind.name:
            case name if name in _SCALARS:
                return _SCALARS[name][0]
            case "List" | "Set":
                return lambda v: [*map(inside[0], v)]
            case "Tuple":
                return lambda v: [write(item) for write, item in zip(inside, v, strict=True)]
            case "Option":
                return lambda v: None if v is None else inside[0](v)
            case "Map":
                return lambda v: _extended(MAP, pack([[inside[0](k), inside[1](one)] for k, one in v.items()]))
            case "Result":
                return inside[0]
            case name if name in spec.enums:
                return attrgetter("value")
            case name if name in spec.newtypes:
                return self._writer(parse_type(spec.newtypes[name].base))
            case name if name in spec.data_models:
                # Made at the first value, for a type may hold itself.
                fields = cache(lambda: [(field, self._writer(of)) for field, of in fields_of(spec, name)])
                return lambda v: [write(getattr(v, field)) for field, write in fields()]
            case name:
                return lambda v: name  # an error of the specification is its name

    def _made_reader(self, kind: TypeRef) -> _Turn:
        domain, inside = self.domain, [self._reader(arg) for arg in kind.args]
        spec = domain.spec
        match kind.name:
            case name if name in _SCALARS:
                return _SCALARS[name][1]
            case "List":
                return lambda v: tuple(map(inside[0], _of(list, v, kind)))
            case "Set":
                return lambda v: frozenset(map(inside[0], _of(list, v, kind)))
            case "Tuple":
                return lambda v: tuple(read(one) for read, one in zip(inside, _of(list, v, kind), strict=True))
            case "Option":
                return lambda v: None if v is None else inside[0](v)
            case "Map":
                return lambda v: {inside[0](k): inside[1](one) for k, one in unpack(_raw(v, MAP))}
            case "Result":
                return inside[0]
            case name if name in spec.newtypes:
                base = self._reader(parse_type(spec.newtypes[name].base))
                return lambda v: domain.types[name](base(v))
            case name if name in spec.data_models:
                fields = cache(lambda: [self._reader(of) for _, of in fields_of(spec, name)])
                return lambda v: domain.types[name](
                    *(read(item) for read, item in zip(fields(), _of(list, v, kind), strict=True))
                )
            case name if name in spec.enums:
                return lambda v: domain.types[name](_of(str, v, kind))
            case name:
                return lambda v: domain.types[name]()


def _moment(written: str) -> datetime:
    """Read a moment; one without a zone is of UTC, as the judge has them all."""
    when = datetime.fromisoformat(written)
    return when.astimezone(UTC).replace(tzinfo=None) if when.tzinfo else when


def _of(wanted: type, value: Any, kind: TypeRef | str) -> Any:
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
        case float() if not abs(value) < _SAFE:
            return {"float": str(value)}
        case int() if abs(value) >= _SAFE:
            return {"int": str(value)}
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
        case {"int": str(digits)}:
            return int(digits)
        case {"ext": int(code), "hex": str(digits)}:
            return _extended(code, bytes.fromhex(digits))
        case _:
            return value
