"""The templates, compiled once, what is put in cleaned and escaped; how they write values; the files served."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Mapping
from contextvars import ContextVar
from functools import cache, lru_cache
from importlib import resources
from pathlib import PurePosixPath
from typing import Any, cast

from jinja2 import ChoiceLoader, Environment, PackageLoader, PrefixLoader, StrictUndefined
from jinja2.ext import Extension
from markupsafe import Markup

from assay.launch.model_choices import ModelChoice
from assay.registry import known, packages, protocol_of, protocols
from assay.report import glossary, markup
from assay.report.cases import written
from assay.report.clean import clean
from assay.report.html import block_html
from assay.report.story import Block
from assay.report.svg.canvas import PALETTE
from assay.report.units import (
    clock,
    count,
    count_noun,
    duration,
    kind_words,
    money,
    short_count,
    with_unknown,
    written_time,
)
from assay.web.calls import place_words
from assay.web.endpoints import bar_links, folders
from assay.web.people import SEVERAL, WHO, may_all
from assay.web.permissions import may_start
from llm_runtime.store import RunSummary

ROOT: ContextVar[str] = ContextVar("root", default="")
"""The path that the request under way came by; empty for a program, which sends the token."""


def rooted(address: str = "") -> str:
    """Return an address of the application, such as ``"/runs"``, as whoever asks now has to ask for it."""
    return ROOT.get() + address


def protocol_name(protocol: str) -> str:
    """Return what people call a kind of run: ``"Fire Circle"``; with its noun where it is not the main one."""
    run = known(protocol)
    if run is None:
        return protocol.replace("_", " ").title()
    owner = protocol_of(run.name)
    return owner.title if run is owner.runs[0] else f"{owner.title}, {run.noun}"


def cost_text(run: RunSummary) -> str:
    """Return what a run cost, as far as it is known."""
    if run.cost_unknown and not run.cost:
        return "cost unknown"
    return with_unknown(money(run.cost) + ("+" if run.cost_unknown else ""), run.unknown)


def iso_time(at: int) -> str:
    """Return milliseconds since the epoch as a ``<time>`` element wants them."""
    return written_time(at).replace(" UTC", "Z").replace(" ", "T")


def joined(items: Iterable[object], between: str) -> str:
    """Return the items as one text. Jinja's own ``join`` would let texts beside markup through uncleaned."""
    return between.join(map(str, items))


@lru_cache(maxsize=2048)
def block_markup(block: Block) -> Markup:
    """Return the markup of a block; most blocks of a run under way are those of a moment before."""
    return Markup(markup.render(block_html(block)))


def meaning(term: str) -> str:
    """Return what a heading or figure means."""
    return glossary.meaning(term, packages())


def chip_words(choice: ModelChoice) -> str:
    """Return what a model costs and reads, and why it is offered."""
    price = choice.price
    costs = "price unknown"
    if price is not None:
        costs = "free" if price.free else f"${price.input:g} in, ${price.output:g} out a million tokens"
    reads = f"reads {short_count(choice.window)}" if choice.window else ""
    return ", ".join(filter(None, (costs, reads, choice.note)))


_BY_THEIR_NAMES: tuple[Callable[..., Any], ...] = (
    *(block_markup, chip_words, clock, cost_text, count_noun, duration, iso_time, meaning, money, place_words),
    *(kind_words, protocol_name, short_count, with_unknown, written, written_time),
)
FILTERS: dict[str, Callable[..., Any]] = {
    **{one.__name__: one for one in _BY_THEIR_NAMES},
    **{"join": joined, "thousands": count, "tone": str},
}


_MEDIA = {
    **{".css": "text/css", ".js": "text/javascript", ".json": "application/json", ".svg": "image/svg+xml"},
    **{".png": "image/png", ".jpg": "image/jpeg", ".gif": "image/gif", ".webp": "image/webp"},
}


@cache
def assets() -> Mapping[str, bytes]:
    """Return every file that is served, by its name behind ``/static/``: a protocol's behind the protocol's."""
    own = resources.files("assay.web").joinpath("static")
    report = resources.files("assay.report").joinpath("report.css").read_bytes()
    theirs = {
        f"{protocol}/{file.name}": file.read_bytes()
        for protocol, folder in folders("static").items()
        for file in folder.iterdir()
        if file.is_file() and media_type(file.name)
    }
    style = b"\n".join((PALETTE.encode(), report, own.joinpath("app.css").read_bytes()))
    scripts = {name: own.joinpath(name).read_bytes() for name in ("app.js", "bench.js")}
    return {**theirs, **scripts, "app.css": style}


def media_type(name: str) -> str:
    """Return what a file is sent as; empty for what is not served."""
    return _MEDIA.get(PurePosixPath(name).suffix, "")


@cache
def version(name: str) -> str:
    """Return what changes with a file, for its address: a browser keeps what has it. Empty where there is none."""
    return hashlib.sha256(assets()[name]).hexdigest()[:12] if name in assets() else ""


_ADDRESS = re.compile(r'(?<= )(href|(?:form)?action|src|data-src)="(?=/)')
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
