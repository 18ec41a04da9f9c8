"""Markdown that a model wrote, as HTML that can do no harm: no markup of its own, no pictures, nothing remote."""

from __future__ import annotations

import re
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING

import nh3

from assay.report.changes import word_ranges
from assay.report.clean import clean
from assay.report.markup import Element, Trusted, element, render
from assay.report.story import Pin, Prose, Sign

if TYPE_CHECKING:
    from markdown_it import MarkdownIt

_LONGEST = 100_000
"""Characters that are read as Markdown; a longer text is shown as it is, for no parser is linear in everything."""

_NEAR = 80
"""Characters behind a place in which the word is looked for that its sign goes before."""
_TAGS = {
    *("p", "br", "hr", "h3", "h4", "h5", "h6", "strong", "em", "s", "code", "pre", "blockquote", "ul", "ol", "li"),
    *("a", "table", "thead", "tbody", "tr", "th", "td"),
}
_ATTRIBUTES = {"*": set[str](), "a": {"href"}, "ol": {"start"}}
_ABSOLUTE = re.compile(r"(?:https?://|mailto:)", re.IGNORECASE)
_SCHEMES = {"https", "http", "mailto"}
_TAGGED = {"ins": ("\ue000", "\ue001"), "attacked": ("\ue004", "\ue005"), "reply": ("\ue006", "\ue007")}
_WRITTEN = {
    **dict(zip(_TAGGED["ins"], ("<ins>", "</ins>"), strict=True)),
    **dict(zip(_TAGGED["attacked"], ('<mark class="attacked">', "</mark>"), strict=True)),
    **dict(zip(_TAGGED["reply"], ('<mark class="reply">', "</mark>"), strict=True)),
}
_SIGN_OPEN, _SIGN_CLOSE = "\ue002", "\ue003"
"""Private-use characters that carry marks and signs through the parser; taken out of the text before."""
_PRIVATE = re.compile("[\ue000-\ue007]")
_QUOTED_PRIVATE = re.compile("(?:\ue002|%EE%80%82)[0-9]+(?:\ue003|%EE%80%83)|[\ue000-\ue007]|%EE%80%8[0-7]")
_INSERTED = re.compile("\ue002([0-9]+)\ue003")


def prose_html(prose: Prose) -> Trusted | Element:
    """Return the text rendered and sanitised, what is new within ``<ins>``."""
    if len(prose.text) > _LONGEST:
        return element("div", prose.text, class_="plain")
    parser = markdown_parser()
    text, inserted = _with_marks(prose)
    tokens = parser.parse(text)
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
    # What scrolls must be reached by keyboard, too.
    safe = safe.replace("<pre>", '<pre tabindex="0">')
    marked = _PRIVATE.sub(lambda one: _WRITTEN.get(one[0], one[0]), safe)
    return Trusted(_INSERTED.sub(lambda one: render(inserted[int(one[1])]), marked))


def signed(text: str, notes: tuple[Sign, ...]) -> str:
    """Return the text with each sign between private-use characters at its place; such as it had are taken out."""
    parts, at = list[str](), 0
    for place, sign in notes:
        parts += [_bare(text[at:place]), f"{_SIGN_OPEN}{sign}{_SIGN_CLOSE}"]
        at = place
    return "".join([*parts, _bare(text[at:])])


def _sign(sign: str) -> Element:
    return element("sup", element("a", sign, href=f"#source-{sign}") if sign.isdigit() else sign, class_="sign")


def _pin_sign(pin: Pin) -> Element:
    inner = element("a", pin.sign, href=f"#{pin.leads}", title=pin.about or None) if pin.leads else pin.sign
    return element("sup", inner, class_=f"sign {pin.kind}", id=pin.name or None)


def _bare(text: str) -> str:
    return _PRIVATE.sub("", text)


def _with_marks(prose: Prose) -> tuple[str, list[Element]]:
    """Return the text with its marks, and numbers where something is set in; and what that is."""
    text = prose.text
    marks = [("ins", span) for span in prose.changed]
    places = [(place, 0, _sign(sign)) for place, sign in prose.notes]
    places += [(place, 1, element("del", words)) for place, words in prose.gone]
    for pin in prose.pins:
        # A mark covers words only, never Markdown's own signs; so the sign of a pin stands behind a word, too.
        words = word_ranges(text, pin.start, pin.end)
        marks += [(pin.kind, span) for span in words]
        ahead = [] if words else word_ranges(text, pin.start, pin.start + _NEAR)
        places.append((words[-1][1] if words else ahead[0][0] if ahead else pin.end, 0, _pin_sign(pin)))
    places.sort(key=lambda one: one[:2])
    edges = sorted({0, len(text), *(at for _, span in marks for at in span), *(place for place, _, _ in places)})
    written, number = "", 0
    for start, end in pairwise([*edges, len(text)]):
        while number < len(places) and places[number][0] <= start:
            sign = f"{_SIGN_OPEN}{number}{_SIGN_CLOSE}"
            lost = places[number][2].tag == "del"
            written += f"{sign} " if text[start : start + 1].isalnum() else f" {sign}" if lost else sign
            number += 1
        inner = clean(_bare(text[start:end]))
        kinds = {kind for kind, span in marks if span[0] <= start < span[1]}
        for kind, (opening, closing) in _TAGGED.items():
            inner = f"{opening}{inner}{closing}" if kind in kinds and inner else inner
        written += inner
    return written, [one for _, _, one in places]


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
