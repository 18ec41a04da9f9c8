"""What every page has: the head, the bar with its search, and small pieces that several pages share."""

from __future__ import annotations

from collections.abc import Iterable

from assay.report.markup import Element, Node, element, render
from assay.report.story import Tone
from assay.report.units import written_time
from llm_runtime.store import RunState

TONES: dict[RunState, Tone] = {
    "running": "info",
    "interrupted": "warning",
    "finished": "good",
    "stopped": "warning",
    "failed": "bad",
}


ENTRIES = (
    ("Start", "/"),
    ("Runs", "/runs"),
    ("Batches", "/batches"),
    ("New run", "/new"),
    ("Personas", "/personas"),
)
"""The bar's entries: what each is called, and where it leads."""


def page(title: str, *content: Node | Iterable[Node] | None, here: str = "", **body: str | None) -> str:
    """A whole page as text. ``here`` names the entry of the bar that the page belongs to."""
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        element("title", f"{title} · Assay"),
        element("link", rel="icon", href="data:,"),
        element("link", rel="stylesheet", href="/static/app.css"),
        element("script", src="/static/app.js", defer=""),
    )
    whole = element(
        "body", element("a", "To the content", href="#content", class_="skip"), _bar(here), *content, **body
    )
    return f"<!doctype html>\n{render(element('html', head, whole, lang='en'))}\n"


def lamp(state: RunState, words: str = "") -> Element:
    """The state of a run: a colour and, where ``words`` are left out, its name."""
    tone = "live" if state == "running" else TONES[state]
    return element("span", element("span", class_="lamp"), words or state, class_=f"state {tone}")


def moment(at: int | None, text: str = "") -> Element | str:
    """A time that the page may write in the reader's own zone."""
    if at is None:
        return ""
    written = written_time(at)
    return element("time", text or written, datetime=written.replace(" UTC", "Z").replace(" ", "T"), title=written)


def ticking(since: int | None) -> Element | None:
    """A clock that counts from a moment in milliseconds since the epoch; the page's script moves it."""
    return None if since is None else element("span", "", class_="clock", data_since=str(since))


def button(text: str, action: str, *hidden: tuple[str, str], class_: str | None = None) -> Element:
    """A form that is one button."""
    fields = [element("input", type="hidden", name=name, value=value) for name, value in hidden]
    return element("form", fields, element("button", text, class_=class_), method="post", action=action)


def trouble(title: str, message: str) -> str:
    """The page of something that went wrong."""
    return page(
        title,
        element(
            "main",
            element("h1", title),
            element("p", message, class_="note bad", dir="auto"),
            element("p", element("a", "All runs", href="/runs")),
            id="content",
            class_="sheet",
        ),
    )


def _bar(here: str) -> Element:
    def entry(text: str, href: str) -> Element:
        return element("a", text, href=href, aria_current="page" if text == here else None)

    return element(
        "div",
        element("a", "Assay", href="/", class_="mark"),
        element("div", [entry(*each) for each in ENTRIES], class_="entries", role="navigation"),
        element("button", "Go to… ", element("kbd", "Ctrl K"), type="button", id="summon", class_="summon"),
        class_="bar",
        role="banner",
    )
