"""fast-check arbitraries for the types of a specification: small values that collide, and each bound's edges."""

from __future__ import annotations

from collections.abc import Sequence

from criticality.languages.base.data import read_text
from criticality.languages.base.naming import camel, snake
from criticality.languages.typescript.domain import conditions, uses_decimals
from criticality.languages.typescript.expressions import quoted
from criticality.spec.literals import Literals
from criticality.spec.spec import DataField, Spec
from criticality.spec.types import TypeRef, parse_type

_FAR = 10**6


def drawn_name(name: str) -> str:
    """``AccountId`` -> ``accountId``: where the values of a named type are found."""
    return camel(snake(name))


class Arbitraries:
    """Writes arbitraries; named types are found by ``named``: within their own file, or from a test.

    Args:
        named: a template with the name of a type's arbitrary.
        where: what stands before the arbitraries of scalars.
    """

    def __init__(self, spec: Spec, named: str = "draw.{0}", where: str = "draw.") -> None:
        self.spec, self.named, self.where = spec, named, where

    def of(self, kind: TypeRef, constraints: Sequence[str] = (), size: str = "") -> str:
        """Return the arbitrary of a type.

        Args:
            size: an expression for the exact size of the value, where it has one.
        """
        if size:
            kind, constraints = self._unwrapped(kind, constraints)
        elif kind.name in self.spec.named_types():
            return self.named.format(drawn_name(kind.name))
        bounds = _Bounds(constraints)
        match kind.name:
            case "Int":
                return f"{self.where}whole({bounds.written})"
            case "Decimal":
                low, high = _or(bounds.low, -_FAR), _or(bounds.high, _FAR)
                least = 1 if "positive" in constraints and low <= 1 else low * 100
                return f"{self.where}decimal({least}, {high * 100})"
            case "Float":
                low, high = _or(bounds.low, -_FAR), _or(bounds.high, _FAR)
                found = f"fc.double({{ min: {low}, max: {high}, noNaN: true }}).map((number) => number + 0)"
                return f"{found}.filter((number) => number > 0)" if "positive" in constraints else found
            case "Text" | "String" if size:
                return f'fc.string({{ unit: fc.constantFrom(..."abcdefgh"), {_exact(size)[2:-2]} }})'
            case "Text" | "String":
                return f"{self.where}text({bounds.shortest}, {_or(bounds.longest, 8)})"
            case "Bool":
                return "fc.boolean()"
            case "Bytes":
                return f"fc.uint8Array({{ minLength: {bounds.shortest}, maxLength: {_or(bounds.longest, 16)} }})"
            case "UUID":
                return "fc.uuid()"
            case "Date":
                return f"{self.where}day()"
            case "Timestamp":
                return f"{self.where}moment()"
            case "Unit":
                return "fc.constant(undefined)"
            case "Tuple":
                return f"fc.tuple({', '.join(map(self.of, kind.args))})"
            case "Option":
                return f"fc.option({self.of(kind.args[0])}, {{ nil: undefined }})"
            case "List":
                return self._list(kind, constraints, bounds, size)
            case "Set":
                items = f"fc.uniqueArray({self.of(kind.args[0])}, {_sized(bounds, 5, size)})"
                return f"{items}.map((items) => new Set(items))"
            case "Map":
                entry = f"fc.tuple({self.of(kind.args[0])}, {self.of(kind.args[1])})"
                items = f"fc.uniqueArray({entry}, {{ {_sized(bounds, 5, size)[2:-2]}, selector: ([key]) => key }})"
                return f"{items}.map((entries) => new Map(entries))"
            case _:
                return self.of(kind.args[0])

    def _unwrapped(self, kind: TypeRef, constraints: Sequence[str]) -> tuple[TypeRef, Sequence[str]]:
        """Below its newtypes: what is cast to one when it has been drawn at a size."""
        found = list(constraints)
        while kind.name in self.spec.newtypes:
            found += self.spec.newtypes[kind.name].constraints
            kind = parse_type(self.spec.newtypes[kind.name].base)
        return kind, found

    def grown(self, kind: TypeRef) -> str:
        """Return the arbitrary of a type at the size ``size``."""
        found = self.of(kind, size="size")
        names: list[str] = []
        while kind.name in self.spec.newtypes:
            names.append(kind.name)
            kind = parse_type(self.spec.newtypes[kind.name].base)
        return f"{found}.map({names[0]})" if names else found

    def _list(self, kind: TypeRef, constraints: Sequence[str], bounds: _Bounds, size: str) -> str:
        """Draw records that differ in their unique fields; sort a sorted list after it is drawn."""
        model = self.spec.data_models.get(kind.args[0].name)
        keys = [field for field in model.fields if "unique" in field.constraints] if model else []
        options, item = _sized(bounds, 6, size), self.of(kind.args[0])
        if keys:
            parts = [f"item.{camel(field.name)}" for field in keys]
            key = parts[0] if len(parts) == 1 else f"JSON.stringify([{', '.join(parts)}])"
            found = f"fc.uniqueArray({item}, {{ {options[2:-2]}, selector: (item) => {key} }})"
        elif "distinct" in constraints:
            found = f"fc.uniqueArray({item}, {{ {options[2:-2]}, comparator: $.same }})"
        else:
            found = f"fc.array({item}, {options})"
        return f"{found}.map((items) => $.sorted(items))" if "sorted" in constraints else found

    def field(self, field: DataField) -> str:
        """Return the arbitrary of a record's field, within its constraints."""
        kind = parse_type(field.type)
        tests = [c for c in field.constraints if c not in ("unique", "immutable")]
        if kind.name not in self.spec.named_types():
            return self.of(kind, tests)
        wanted = " && ".join(text for text, _ in conditions(self.spec, kind, tests, "value"))
        return f"{self.of(kind)}.filter((value) => {wanted})" if wanted else self.of(kind)


class _Bounds:
    """The bounds in constraints: of a number, and of a size."""

    def __init__(self, constraints: Sequence[str]) -> None:
        self.low: int | None = None
        self.high: int | None = None
        self.shortest, self.longest = 0, None
        for constraint in constraints:
            name, _, rest = constraint.partition("(")
            number = int(rest.rstrip(")")) if rest else 0
            match name:
                case "non_negative" | "positive" | "min":
                    least = {"non_negative": 0, "positive": 1}.get(name, number)
                    self.low = least if self.low is None else max(self.low, least)
                case "max":
                    self.high = number if self.high is None else min(self.high, number)
                case "non_empty" | "min_length":
                    self.shortest = max(self.shortest, number or 1)
                case "max_length":
                    self.longest = number if self.longest is None else min(self.longest, number)
                case _:
                    continue

    @property
    def written(self) -> str:
        """The bounds of a number as arguments."""
        if self.low is None and self.high is None:
            return ""
        low, high = ("null" if bound is None else str(bound) for bound in (self.low, self.high))
        return low if high == "null" else f"{low}, {high}"


def _or(value: int | None, otherwise: int) -> int:
    return otherwise if value is None else value


def _exact(size: str) -> str:
    return f'{{ minLength: {size}, maxLength: {size}, size: "max" }}'


def _sized(bounds: _Bounds, longest: int, size: str) -> str:
    return (
        _exact(size) if size else f"{{ minLength: {bounds.shortest}, maxLength: {_or(bounds.longest, longest)} }}"
    )


def arbitraries_source(spec: Spec, literals: Literals) -> str:
    """``arbitraries.ts``: what is drawn of each named type."""
    names = list(spec.named_types())
    writer = Arbitraries(spec, 'tie("{0}")', "")
    body = "\n".join(f"  {drawn_name(name)}: {_definition(spec, writer, name)}," for name in names)
    kinds = "\n".join(f"  {drawn_name(name)}: domain.{name};" for name in names)
    head = [
        f"/** Values of the types of {spec.system.name}, drawn at random. */", "",
        'import fc from "fast-check";', "", 'import * as domain from "../../src/domain.js";',
    ]  # fmt: skip
    head += ['import * as $ from "../../src/by-value.js";'] if "$." in body else []
    scalars = "".join(
        read_text("criticality.languages.typescript", "templates", f"{name}.ts")
        for name in ("scalars", *(["decimal"] if uses_decimals(spec) else []))
    )
    texts = ", ".join(map(quoted, (*literals.examples, *literals.texts)))
    near = (
        "/** What its contracts and claims are written with. */\n"
        f"const TEXTS: readonly string[] = [{texts}];\n"
        f"const NUMBERS: readonly number[] = [{', '.join(map(str, literals.numbers))}];\n"
    )
    exported = "\n".join(f"  {drawn_name(name)}," for name in names)
    tied = f"export const {{\n{exported}\n}} = fc.letrec<Drawn>((tie) => ({{\n{body}\n}}));\n"
    # A type and no interface: only that has the index signature which `letrec` asks for.
    named = [f"type Drawn = {{\n{kinds}\n}};\n", tied] if names else []
    return "\n".join([*head, "", near, scalars, *named])


def _definition(spec: Spec, writer: Arbitraries, name: str) -> str:
    if name in spec.enums:
        return f"fc.constantFrom(...Object.values(domain.{name}))"
    if name in spec.errors:
        return f"fc.constant(new domain.{name}())"
    if name in spec.newtypes:
        base, constraints = parse_type(spec.newtypes[name].base), list(spec.newtypes[name].constraints)
        while base.name in spec.newtypes:
            constraints += spec.newtypes[base.name].constraints
            base = parse_type(spec.newtypes[base.name].base)
        return f"{writer.of(base, constraints)}.map(domain.{name})"
    model = spec.data_models[name]
    fields = ", ".join(f"{camel(f.name)}: {writer.field(f)}" for f in model.fields)
    drawn = f"fc.record({{ {fields} }})"
    if not model.invariants:
        return f"{drawn}.map(domain.{name})"
    return f"{drawn}.filter((fields) => fits(() => domain.{name}(fields))).map(domain.{name})"
