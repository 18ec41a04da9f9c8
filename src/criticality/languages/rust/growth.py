"""Claims on performance in Rust: how time grows with the size of one variable (CT16)."""

from __future__ import annotations

from collections.abc import Sequence

from criticality.languages.base.expressions.conversions import ExpressionFault
from criticality.languages.base.typed_tests import Growth
from criticality.languages.rust.expressions import quoted
from criticality.languages.rust.generators import generator
from criticality.languages.rust.names import ident
from criticality.spec.spec import Spec
from criticality.spec.types import Param, TypeRef
from criticality.spec.values import constraints_of, root

#: Sizes at which a class shows itself, and is still done in a moment.
_SIZES = ((1.5, (300, 1_000, 3_000)), (2.5, (50, 150, 450)), (9.0, (20, 40, 80)))


def grown(
    spec: Spec, variables: Sequence[Param], growth: Growth, promise: str, steps: Sequence[str], last: str
) -> list[str]:
    """Return the lines of a test that time some steps, for larger and larger values.

    Args:
        promise: an expression of its words.
        steps: statements over the variables; ``last`` is what they come to.

    Raises:
        ExpressionFault: the type of the growing variable is none that can grow.
    """
    sizes = next(sizes for slope, sizes in _SIZES if growth.slope < slope)
    named = growth.words.removeprefix("COMPLEXITY: ").partition(" where ")[0]
    lines: list[str] = []
    for param in variables:
        drawn = _sized(spec, param.type) if param.name == growth.variable else generator(spec, param.type)
        lines.append(f"let {ident(param.name)} = sample(&{drawn});")
    return [
        f"grows({promise}, {quoted(named)}, {growth.slope!r}, &{list(sizes)}, |size| {{",
        *(f"    {line}" for line in lines),
        "    move || timed(|| {",
        *(f"        {step}" for step in steps),
        f"        {last}",
        "    })",
        "});",
    ]


def _sized(spec: Spec, kind: TypeRef) -> str:
    """Return a strategy for a value of exactly ``size`` parts, as far as they differ where they must."""
    inner = root(spec, kind)
    sub = [generator(spec, arg) for arg in inner.args]
    match inner.name:
        case "List":
            drawn = f"prop::collection::vec({sub[0]}, size)"
            if "sorted" in constraints_of(spec, kind.name):
                drawn += ".prop_map(|mut items| { items.sort(); items })"
        case "Set":
            items = f"prop::collection::vec({sub[0]}, size)"
            drawn = f"{items}.prop_map(|items| items.into_iter().collect::<BTreeSet<_>>())"
        case "Map":
            pairs = f"prop::collection::vec(({sub[0]}, {sub[1]}), size)"
            drawn = f"{pairs}.prop_map(|items| items.into_iter().collect::<BTreeMap<_, _>>())"
        case "Text" | "String":
            drawn = "generators::text(size, size)"
        case name:
            raise ExpressionFault(f"a {name} does not grow")
    if kind.name not in spec.newtypes:
        return drawn
    if constraints_of(spec, kind.name):
        return f'{drawn}.prop_filter_map("{kind.name}", |value| {kind.name}::new(value).ok())'
    return f"{drawn}.prop_map({kind.name}::new)"
