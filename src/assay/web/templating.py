"""The templates: compiled once; what is put into them is cleaned and escaped, and nothing may be missing."""

from __future__ import annotations

import re
from functools import cache

from jinja2 import Environment, PackageLoader, StrictUndefined
from jinja2.ext import Extension
from markupsafe import Markup

from assay.report.clean import clean
from assay.web.filters import FILTERS

_BREAK = re.compile(r"(?<=[>}])\s*\n\s*(?=[<{])")


class _LineBreaks(Extension):
    """Take the line breaks between tags out of a template: they are for its reader and would show as spaces."""

    def preprocess(self, source: str, name: str | None, filename: str | None = None) -> str:
        # A comment keeps the breaks, so that the line numbers of errors stay right.
        return _BREAK.sub(lambda match: "{#" + "\n" * match[0].count("\n") + "#}", source)


def _cleaned(value: object) -> object:
    """Clean what a template prints. Markup was cleaned when it was made."""
    if value is None:
        return ""
    return value if hasattr(value, "__html__") else clean(str(value))


@cache
def environment() -> Environment:
    """Return the one environment of all templates."""
    templates = Environment(
        loader=PackageLoader("assay.web"),
        extensions=[_LineBreaks],
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_cleaned,
        auto_reload=False,
        cache_size=-1,
    )
    templates.filters |= FILTERS
    return templates


def render(template: str, **data: object) -> Markup:
    """Return a template filled in.

    Args:
        template: its file's name.
        data: what it asks for, by name; a name that is missing is an error.
    """
    return Markup(environment().get_template(template).render(data))
