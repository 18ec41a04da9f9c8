"""Markdown that a model wrote, as HTML that can do no harm: no markup of its own, no pictures, nothing remote."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

import nh3

from assay.report.changes import marked_spans
from assay.report.clean import clean
from assay.report.markup import Element, Trusted, element
from assay.report.story import Prose

if TYPE_CHECKING:
    from markdown_it import MarkdownIt

_LONGEST = 100_000
"""Characters that are read as Markdown; a longer text is shown as it is, for no parser is linear in everything."""

_TAGS = {
    *("p", "br", "hr", "h3", "h4", "h5", "h6", "strong", "em", "s", "code", "pre", "blockquote", "ul", "ol", "li"),
    *("a", "table", "thead", "tbody", "tr", "th", "td"),
}
_ATTRIBUTES = {"*": set[str](), "a": {"href"}, "ol": {"start"}}
_ABSOLUTE = re.compile(r"(?:https?://|mailto:)", re.IGNORECASE)
_SCHEMES = {"https", "http", "mailto"}
_OPEN, _CLOSE = "\ue000", "\ue001"
"""Private-use characters that carry the marks through the parser; taken out of the text before."""


def prose_html(prose: Prose) -> Trusted | Element:
    """Return the text rendered and sanitised, what is new within ``<mark>``."""
    if len(prose.text) > _LONGEST:
        return element("div", prose.text, class_="plain")
    parser = markdown_parser()
    tokens = parser.parse(_with_marks(prose))
    for token in tokens:
        if token.type in ("heading_open", "heading_close"):
            token.tag = f"h{min(int(token.tag[1]) + 2, 6)}"  # h1 and h2 are the report's own
    rendered: str = parser.renderer.render(tokens, parser.options, {})
    safe = nh3.clean(
        rendered,
        tags=_TAGS,
        attributes=_ATTRIBUTES,
        attribute_filter=_attribute,
        url_schemes=_SCHEMES,
        link_rel="noopener noreferrer nofollow",
    )
    return Trusted(safe.replace(_OPEN, "<mark>").replace(_CLOSE, "</mark>"))


def _with_marks(prose: Prose) -> str:
    def bare(text: str) -> str:
        return clean(text.replace(_OPEN, "").replace(_CLOSE, ""))

    spans = marked_spans(prose.text, prose.changed)
    return "".join(f"{_OPEN}{bare(text)}{_CLOSE}" if marked else bare(text) for text, marked in spans)


def _attribute(tag: str, attribute: str, value: str) -> str | None:
    """Return an attribute without marks; drop a link that means another place in another file."""
    for mark in (_OPEN, _CLOSE, "%EE%80%80", "%EE%80%81"):
        value = value.replace(mark, "")
    return value if attribute != "href" or _ABSOLUTE.match(value) else None


@cache
def markdown_parser() -> MarkdownIt:
    """Return a parser of CommonMark with tables and strikethrough, without HTML and pictures."""
    from markdown_it import MarkdownIt

    options = {"html": False, "linkify": False}
    return MarkdownIt("commonmark", options).enable(["table", "strikethrough"]).disable("image")
