"""Claims on performance in C++: how time grows with the size of one variable (CT16)."""

from __future__ import annotations

from collections.abc import Sequence

from criticality.languages.base.expressions.conversions import ExpressionFault
from criticality.languages.base.typed_tests import Growth
from criticality.languages.cpp.expressions import quoted
from criticality.languages.cpp.generators import generator
from criticality.languages.cpp.names import ident, owned
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
        lines.append(f"const auto {ident(param.name)} = support::sample([&] {{ return {drawn}; }});")
    return [
        f"support::grows({promise}, {quoted(named)}, {growth.slope!r}, {{{', '.join(map(str, sizes))}}},",
        "  [](std::int64_t length) {",
        *(f"    {line}" for line in lines),
        f"    return [{', '.join(ident(param.name) for param in variables)}] {{",
        "      return support::timed([&] {",
        *(f"        {step}" for step in steps),
        f"        return {last};",
        "      });",
        "    };",
        "  });",
    ]


def _sized(spec: Spec, kind: TypeRef) -> str:
    """Return a value of exactly ``length`` parts, as far as they differ where they must."""
    inner = root(spec, kind)
    if inner.name in ("Text", "String"):
        made = "near::text(generators::kTexts, length, length)"
    elif inner.name in ("List", "Set", "Map"):
        item = inner.args[0] if len(inner.args) == 1 else TypeRef("Tuple", inner.args)
        made = f"near::list([] {{ return {generator(spec, item)}; }}, length, length)"
        made = {"Set": f"values::to_set({made})", "Map": f"values::to_map({made})"}.get(inner.name, made)
        if "sorted" in constraints_of(spec, kind.name):
            made = f"values::sorted({made})"
    else:
        raise ExpressionFault(f"a {inner.name} does not grow")
    return f"{owned(kind)}({made})"
