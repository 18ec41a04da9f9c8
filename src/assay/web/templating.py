"""The templates: compiled once; what is put into them is cleaned and escaped, and nothing may be missing."""

from __future__ import annotations

import re
from functools import cache
from typing import Any, cast

from jinja2 import ChoiceLoader, Environment, PackageLoader, PrefixLoader, StrictUndefined
from jinja2.ext import Extension
from markupsafe import Markup

from assay.registry import protocols
from assay.report.clean import clean
from assay.web.assets import version
from assay.web.brought import bar_links, folders
from assay.web.filters import FILTERS
from assay.web.people import SEVERAL, WHO, may_all
from assay.web.permissions import may_start
from assay.web.root import rooted

_ADDRESS = re.compile(r'(?<= )(href|action|src|data-src)="(?=/)')
_BREAK = re.compile(r"(?<=[>}])\s*\n\s*(?=[<{])")


class _Sources(Extension):
    """Complete addresses and drop line breaks in a template's source.

    Addresses get this launch's path in front. Line breaks between tags would show as spaces.
    """

    def preprocess(self, source: str, name: str | None, filename: str | None = None) -> str:
        source = _ADDRESS.sub(r'\1="{{ rooted() }}', source)
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
    # A name of ours has no protocol's before it, so nobody can take its place.
    theirs = {name: PackageLoader(protocols()[name].package) for name in folders("templates")}
    templates = Environment(
        loader=ChoiceLoader([PackageLoader("assay.web"), PrefixLoader(theirs)]),
        extensions=[_Sources],
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_cleaned,
        auto_reload=False,
        cache_size=-1,
    )
    templates.filters |= FILTERS
    cast("dict[str, Any]", templates.globals).update(
        rooted=rooted,
        version=version,
        bar_links=bar_links,
        who=WHO.get,
        several=SEVERAL.get,
        administers=may_all,
        starts=may_start,
    )
    return templates


def render(template: str, **data: object) -> Markup:
    """Return a template filled in.

    Args:
        template: its file's name; of a protocol's, ``"NAME/file.html"``.
        data: what it asks for, by name; a name that is missing is an error.
    """
    return Markup(environment().get_template(template).render(data))
