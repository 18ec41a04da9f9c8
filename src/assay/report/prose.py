"""Markdown that a model wrote, as HTML that can do no harm: no markup of its own, no pictures, nothing remote."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

import nh3

from assay.report.changes import marked_spans
from assay.report.clean import clean
from assay.report.markup import Element, Trusted, element
from assay.report.story import Prose, Sign

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
_SIGN_OPEN, _SIGN_CLOSE = "\ue002", "\ue003"
"""Private-use characters that carry marks and signs through the parser; taken out of the text before."""
_PRIVATE = re.compile("[\ue000-\ue003]")
_QUOTED_PRIVATE = re.compile("[\ue000-\ue003]|%EE%80%8[0-3]")
_SIGN = re.compile("\ue002([^\ue003<>&]*)\ue003")


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
    marked = safe.replace(_OPEN, "<mark>").replace(_CLOSE, "</mark>")
    return Trusted(_SIGN.sub(_reference, marked))


def signed(text: str, notes: tuple[Sign, ...]) -> str:
    """Return the text with each sign between private-use characters at its place; such as it had are taken out."""
    parts, at = list[str](), 0
    for place, sign in notes:
        parts += [_bare(text[at:place]), f"{_SIGN_OPEN}{sign}{_SIGN_CLOSE}"]
        at = place
    return "".join([*parts, _bare(text[at:])])


def _reference(sign: re.Match[str]) -> str:
    inner = f'<a href="#source-{sign[1]}">{sign[1]}</a>' if sign[1].isdigit() else sign[1]
    return f'<sup class="sign">{inner}</sup>'


def _bare(text: str) -> str:
    return _PRIVATE.sub("", text)


def _with_marks(prose: Prose) -> str:
    """Return the text with marks and signs in it; no mark reaches across a sign."""
    written, at = "", 0
    for text, marked in marked_spans(prose.text, prose.changed):
        end = at + len(text)
        inner = signed(text, tuple((place - at, sign) for place, sign in prose.notes if at < place <= end))
        inner = clean(inner)
        written += f"{_OPEN}{inner}{_CLOSE}" if marked else inner
        at = end
    return written


def _attribute(tag: str, attribute: str, value: str) -> str | None:
    """Return an attribute without marks; drop a link that means another place in another file."""
    value = _QUOTED_PRIVATE.sub("", value)
    return value if attribute != "href" or _ABSOLUTE.match(value) else None


@cache
def markdown_parser() -> MarkdownIt:
    """Return a parser of CommonMark with tables and strikethrough, without HTML and pictures."""
    from markdown_it import MarkdownIt

    options = {"html": False, "linkify": False}
    return MarkdownIt("commonmark", options).enable(["table", "strikethrough"]).disable("image")
