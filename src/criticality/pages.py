"""Files that are made from templates.

``«name»`` is a value and a line that begins with ``%%`` a statement, since no target language has these.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from llm_runtime.extras import needing

if TYPE_CHECKING:
    from jinja2 import Environment

#: What a template writes a value with: a function of the value and of what stands in brackets.
Filter: TypeAlias = Callable[[Any], Any] | Callable[[Any, Any], Any] | Callable[[Any, Any, Any], Any]
_STATEMENT = re.compile(r"^[ \t]*%% (.*)$", re.MULTILINE)


def flat(text: str) -> str:
    """Return a text on one line."""
    return " ".join(text.split())


def sentence(text: str) -> str:
    """Return a text on one line, with a full stop at its end."""
    return flat(text) if flat(text).endswith(".") else f"{flat(text)}."


def counted(many: int, one: str, more: str = "") -> str:
    """Return a number with its noun."""
    return f"{many} {one if many == 1 else more or one + 's'}"


def page(package: str, template: str, filters: Mapping[str, Filter], values: Mapping[str, Any]) -> str:
    """Return a template of a package, filled; its filters are the same for all its templates."""
    environment = _environment(package)
    cast("dict[str, Any]", environment.filters).update(filters)
    return environment.get_template(template).render(values)


@cache
def _environment(package: str) -> Environment:
    with needing("a build", "code"):  # what shows a build that was played elsewhere does without
        from jinja2 import Environment, FunctionLoader, StrictUndefined
    folder = resources.files(package) / "templates"
    made = Environment(
        loader=FunctionLoader(lambda name: _STATEMENT.sub(r"«% \1 %»", (folder / name).read_text("utf-8"))),
        undefined=StrictUndefined, autoescape=False, trim_blocks=True, lstrip_blocks=True,
        variable_start_string="«", variable_end_string="»", block_start_string="«%", block_end_string="%»",
        comment_start_string="«#", comment_end_string="#»",
    )  # fmt: skip
    own: dict[str, Filter] = {
        "flat": flat, "sentence": sentence, "counted": counted,
        "bare": lambda text: flat(text).rstrip("."), "closed": lambda text: text.replace("*/", "* /"),
    }  # fmt: skip
    cast("dict[str, Any]", made.filters).update(own)
    return made
