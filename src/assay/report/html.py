"""A story as one HTML file that needs nothing else: no scripts, nothing remote, good on paper and on a phone."""

from __future__ import annotations

from functools import cache
from importlib import resources

from assay.report.markup import Element, Node, Trusted, element, render
from assay.report.prose import prose_html
from assay.report.story import (
    Block,
    Details,
    Figure,
    Footnotes,
    Marked,
    Note,
    Plain,
    Prose,
    Quote,
    Section,
    Story,
    Table,
    Voice,
)
from assay.report.svg.canvas import PALETTE

_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
_LONG_TITLE = 120
_WORTH_CONTENTS = 4


def story_html(story: Story) -> str:
    """Return the whole file as text."""
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=_POLICY),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        element("meta", name="referrer", content="no-referrer"),
        element("title", f"{story.title} · Assay"),
        element("link", rel="icon", href="data:,"),
        element("style", Trusted(_style())),
    )
    skip = element("a", "To the report", href="#report", class_="skip")
    contents = _contents(story.sections) if len(story.sections) >= _WORTH_CONTENTS else None
    main = element("main", [_section(s, i) for i, s in enumerate(story.sections, 1)], id="report")
    page = element("div", contents, main, class_="page" if contents else "page single")
    foot = element("footer", element("p", "Made by Assay from the run's own record. Texts are the models' own."))
    body = element("body", skip, _masthead(story), page, foot)
    return f"<!doctype html>\n{render(element('html', head, body, lang='en'))}\n"


def block_html(block: Block) -> Node:
    """Return one block; pages of the web application show the same."""
    match block:
        case Prose():
            return element("div", prose_html(block), class_="prose lead" if block.lead else "prose", dir="auto")
        case Plain():
            return element("p", block.text, class_="plain", dir="auto")
        case Marked() | Quote():
            by = element("figcaption", block.by, dir="auto") if block.by else None
            text, look = (_marked(block), "quote marked") if isinstance(block, Marked) else (block.text, "quote")
            return element("figure", by, element("blockquote", text, dir="auto"), class_=look)
        case Note():
            return element("p", block.text, class_=f"note {block.tone}", dir="auto")
        case Table():
            return _table(block)
        case Footnotes():
            entries = [
                element("li", element("span", sign, class_="sign"), " ", text, id=f"source-{sign}", dir="auto")
                for sign, text in block.entries
            ]
            return element("ul", entries, class_="footnotes")
        case Figure():
            return _figure(block)
        case Details():
            inner = element("div", [block_html(each) for each in block.blocks], class_="inner")
            return element("details", element("summary", block.summary), inner, class_="more")
        case Voice():
            return _voice(block)


def _masthead(story: Story) -> Element:
    # How a run stands has no colour: that is its verdict's.
    lamp = element("span", class_="lamp") if not story.standing or story.standing.verdict else None
    ending = element("p", lamp, story.subtitle, class_=f"ending {story.tone}")
    title = element("h1", story.title, class_="long" if len(story.title) > _LONG_TITLE else None, dir="auto")
    origin = element("p", story.origin, class_="origin") if story.origin else None
    each = [element("div", element("dt", fact.label), element("dd", fact.value)) for fact in story.facts]
    facts = element("dl", each, class_="facts") if each else None
    annex = _annex() if any(section.brief for section in story.sections) else None
    return element("header", element("div", ending, title, origin, facts, annex, class_="head"))


def _annex() -> Element:
    tick = element("input", type="checkbox", id="annex", autocomplete="off")
    return element("label", tick, " Print all of it, not the first pages alone", class_="origin printing")


def _contents(sections: tuple[Section, ...]) -> Element:
    items = [element("li", element("a", s.heading, href=f"#s{i}")) for i, s in enumerate(sections, 1)]
    return element("nav", element("ol", items), aria_label="Contents")


def _section(section: Section, index: int) -> Element:
    name = f"s{index}"
    blocks = [block_html(block) for block in section.blocks]
    look = None if section.brief else "annex"
    return element("section", element("h2", section.heading), blocks, id=name, class_=look)


def _voice(voice: Voice) -> Element:
    remark = element("span", voice.remark, class_="remark") if voice.remark else None
    name = element("span", voice.name, class_="name", dir="auto")
    inner = element("div", [block_html(block) for block in voice.blocks], class_="inner")
    return element("details", element("summary", name, remark), inner, class_=f"voice {voice.accent}", open="")


def _marked(block: Marked) -> list[Node]:
    pieces: list[Node] = []
    for text, mark in block.pieces():
        pieces.append(element("mark", text) if mark else text)
        if mark and mark.sign:
            pieces.append(element("span", mark.sign, class_="sign"))
    return pieces


def _table(table: Table) -> Element:
    kinds = [column.kind for column in table.columns]

    def row(cells: tuple[str, ...], name: str = "", leads: str = "") -> Element:
        linked: list[Node] = [element("a", cells[0], href=f"#{leads}"), *cells[1:]] if leads else [*cells]
        written = zip(linked, kinds, strict=True)
        return element("tr", [element("td", cell, class_=kind, dir="auto") for cell, kind in written], id=name or None)

    links = table.links or (("", ""),) * len(table.rows)
    heads = [element("th", column.head, class_=column.kind, scope="col") for column in table.columns]
    caption = element("caption", table.caption) if table.caption else None
    body = element("tbody", [row(cells, *link) for cells, link in zip(table.rows, links, strict=True)])
    total = element("tfoot", row(table.total)) if table.total else None
    grid = element("table", caption, element("thead", element("tr", heads)), body, total)
    return element("div", grid, class_="wide", tabindex="0")


def _figure(figure: Figure) -> Element:
    words = element("details", element("summary", "In words"), element("p", figure.alternative), class_="words")
    picture = element("div", figure.svg, class_="wide", tabindex="0")
    return element("figure", picture, element("figcaption", figure.caption, " ", words), class_="picture")


@cache
def _style() -> str:
    return PALETTE + "\n" + resources.files("assay.report").joinpath("report.css").read_text(encoding="utf-8")
