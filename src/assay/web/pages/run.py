"""A run's page: the head that all its views share, and the story as parts that a live page exchanges one by one."""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass
from functools import lru_cache

from assay.report.html import block_html
from assay.report.markup import Element, Node, Trusted, element, render
from assay.report.progress import Progress, SeatProgress
from assay.report.story import Block, Fact, Section, Story
from assay.report.tally import Call
from assay.report.units import money, several, short_count
from assay.runners import BOUND
from assay.web.calls import place_words
from assay.web.pages.asking import Ask, asking
from assay.web.pages.frame import TONES, button, page, ticking
from assay.web.pages.guides import HOW_IT_GOES
from assay.web.watch import Watch

_LONG_TITLE = 120
_RECORDED = (
    "This is a recording: the answers were written by hand for it, and everything else is the engine at work."
)
_SEATLESS = frozenset({"criticality", "persona", "trial"})
"""Protocols in which nobody has a seat: what happens now needs no room for any."""
_SLUG = re.compile(r"[^a-z0-9]+")


@dataclass(frozen=True, slots=True)
class Standing:
    """What a run's page knows beside its log.

    Args:
        owned: whether this server carries the run out, and so can stop it.
        asks: what the run wants to know from a person.
        fault: why it ended, where its log does not say.
    """

    owned: bool = False
    asks: tuple[Ask, ...] = ()
    fault: str = ""


@dataclass(frozen=True, slots=True)
class Parts:
    """A view in exchangeable pieces: their markup by element id, and the order of those in the main column."""

    pieces: dict[str, str]
    order: tuple[str, ...]


def story_parts(watch: Watch, standing: Standing) -> Parts:
    """The story, section by section."""
    story = watch.fold.story()
    named = _named(story.sections)
    sections = {name: _section(name, each.heading, each.blocks) for name, each in named.items()}
    contents = [(name, each.heading) for name, each in named.items()]
    return Parts({**head_parts(watch, story, standing, "story", contents), **sections}, tuple(sections))


def head_parts(
    watch: Watch, story: Story, standing: Standing, view: str, contents: list[tuple[str, str]]
) -> dict[str, str]:
    """What stands above every view of a run: title, figures, actions, what happens now, and what is asked."""
    return {
        "masthead": render(_masthead(watch, story, standing, view)),
        "now": render(_now(watch, view)),
        "asks": render(asking(watch.run_id, standing.asks)),
        "contents": render(_contents(contents)),
    }


def run_page(watch: Watch, parts: Parts, view: str, drawn: str | None) -> str:
    """The page of a view. Its script keeps it up to date while the run goes on, from ``drawn``, the mark of what
    it shows; ``None`` for a page that stays as it is."""
    pieces = {name: Trusted(markup) for name, markup in parts.pieces.items()}
    return page(
        watch.started.title or watch.run_id,
        pieces["masthead"],
        element(
            "div",
            pieces["contents"],
            element(
                "main",
                pieces["asks"],
                pieces["now"],
                element("div", [pieces[name] for name in parts.order], id="parts"),
                id="content",
            ),
            class_="page",
        ),
        element("p", "", id="connection", role="status", hidden=""),
        here="Runs",
        data_run=watch.run_id,
        data_view=view,
        data_seq=str(watch.seq),
        data_drawn=drawn,
        data_live="" if drawn and is_live(watch) else None,
    )


def is_live(watch: Watch) -> bool:
    """Whether more may come: the run goes on, or was broken off and may be taken up again."""
    return watch.state in ("running", "interrupted")


@lru_cache(maxsize=2048)
def block_markup(block: Block) -> str:
    """The markup of a block; most blocks of a run under way are those of a moment before."""
    return render(block_html(block))


def section(name: str, heading: str, *content: Node | None) -> str:
    """A section of a view, for exchange by its ``name``."""
    return render(element("section", element("h2", heading), *content, id=name))


def _named(sections: tuple[Section, ...]) -> dict[str, Section]:
    """Sections by a name that stays with them when others come in between."""
    named: dict[str, Section] = {}
    for each in sections:
        slug = _SLUG.sub("-", each.heading.lower()).strip("-")[:40] or "section"
        names = (f"s-{slug}" if count == 1 else f"s-{slug}-{count}" for count in itertools.count(1))
        named[next(name for name in names if name not in named)] = each
    return named


def _section(name: str, heading: str, blocks: tuple[Block, ...]) -> str:
    return section(name, heading, *(Trusted(block_markup(block)) for block in blocks))


def _masthead(watch: Watch, story: Story, standing: Standing, view: str) -> Element:
    size = "long" if len(story.title) > _LONG_TITLE else None
    tone = "live" if watch.state == "running" else TONES[watch.state] if watch.state != "finished" else story.tone
    return element(
        "header",
        element(
            "div",
            element(
                "p",
                element("span", class_="lamp"),
                _subtitle(watch, story),
                class_=f"ending {tone}",
            ),
            element("h1", story.title, class_=size if view == "story" else "compact", dir="auto"),
            element("p", standing.fault, class_="note bad") if standing.fault else None,
            _guide(watch) if view == "story" else None,
            element("dl", [_fact(fact) for fact in story.facts], class_="facts"),
            element("div", _tabs(watch.run_id, view), _actions(watch, standing), class_="ledge"),
            class_="head",
        ),
        id="masthead",
        class_=None if view == "story" else "slim",
    )


def _guide(watch: Watch) -> Element | None:
    """To whoever looks at a recording: what they see, and whose words they are not."""
    goes = HOW_IT_GOES.get(watch.started.protocol)
    if watch.started.origin != "demo" or goes is None:
        return None
    return element("p", goes, " ", element("span", _RECORDED), class_="guidance")


def _subtitle(watch: Watch, story: Story) -> str:
    if watch.state == "running":
        progress = watch.fold.progress()
        return f"{progress.protocol} · {progress.phase or 'at work'}"
    if watch.state == "interrupted":
        return f"{watch.fold.progress().protocol} · interrupted: nobody is working on it"
    return story.subtitle


def _fact(fact: Fact) -> Element:
    return element("div", element("dt", fact.label), element("dd", fact.value))


def _tabs(run_id: str, view: str) -> Element:
    names = {"story": ("Story", ""), "timeline": ("Timeline", "/timeline"), "events": ("Events", "/events")}
    links = [
        element("a", text, href=f"/runs/{run_id}{path}", aria_current="page" if name == view else None)
        for name, (text, path) in names.items()
    ]
    return element("div", links, class_="tabs", role="navigation", aria_label="Views of this run")


def _actions(watch: Watch, standing: Standing) -> Element:
    base = f"/runs/{watch.run_id}"
    own = None
    if standing.owned:
        own = button("Stop", f"{base}/stop", class_="quiet")
    elif watch.state in ("interrupted", "stopped", "failed") and _resumable(watch):
        own = element("a", "Resume", href=f"{base}/resume", class_="primary")
    exports = [
        element("li", element("a", text, href=f"{base}/export.{kind}"))
        for kind, text in (
            ("html", "Report, HTML"),
            ("md", "Report, Markdown"),
            ("json", "Result, JSON"),
            ("jsonl", "Log, JSON lines"),
        )
    ]
    export = element("details", element("summary", "Export", class_="quiet"), element("ul", exports), class_="menu")
    return element(
        "div",
        own,
        None if watch.started.protocol in BOUND else element("a", "Fork", href=f"{base}/fork", class_="quiet"),
        element("a", "Compare", href=f"/compare?run={watch.run_id}", class_="quiet"),
        export,
        class_="actions",
    )


def _resumable(watch: Watch) -> bool:
    """Whether the run may go on: a recording has nobody left to ask."""
    return watch.started.origin != "demo"


def _contents(contents: list[tuple[str, str]]) -> Element:
    items = [element("li", element("a", text, href=f"#{name}")) for name, text in contents]
    return element("nav", element("ol", items), aria_label="Contents", id="contents")


def _now(watch: Watch, view: str) -> Element:
    if watch.state != "running" or view != "story":
        return element("div", id="now", hidden="")
    progress = watch.fold.progress()
    calls = list(watch.head.tally.running.values())
    return element(
        "div",
        element("div", _pace(progress), _meter(progress), class_="pace"),
        element("ul", [_seat(seat) for seat in progress.seats], class_="seats") if progress.seats else None,
        _in_flight(calls) if progress.call_noun == "call" else None,
        element("ol", [element("li", line.step, dir="auto") for line in watch.steps(3)], class_="steps"),
        id="now",
        class_="now brief" if watch.started.protocol in _SEATLESS else "now",
        aria_label="What happens now",
        role="region",
    )


def _pace(progress: Progress) -> Element:
    rounds = f"{progress.round_noun} {progress.round}" if progress.round else ""
    if progress.round and progress.rounds:
        rounds += f" of {progress.rounds}"
    spent = [f"{short_count(progress.tokens)} tokens", money(progress.cost)]
    return element(
        "p",
        element("strong", progress.phase or "at work"),
        element("span", rounds) if rounds else None,
        element("span", " · ".join(spent)),
        ticking(progress.started),
    )


def _meter(progress: Progress) -> Element:
    done, expected = progress.calls_done, progress.calls_expected
    counted = several(expected or done, progress.call_noun)
    words = f"{done} of {counted}" if expected else counted
    value = {"value": str(done), "max": str(max(expected, 1))} if expected else {}
    return element("p", element("progress", **value, aria_label=words), element("span", words), class_="meter")


def _seat(seat: SeatProgress) -> Element:
    thinking = seat.state == "thinking"
    return element(
        "li",
        element("span", seat.name, class_="name", dir="auto"),
        element("span", seat.says or seat.state, class_="says", dir="auto"),
        ticking(seat.since) if thinking else element("span", seat.state, class_="clock"),
        class_=f"{seat.accent} {seat.state}",
    )


def _in_flight(calls: list[Call]) -> Element:
    shown = [
        element(
            "li",
            element("span", place_words(call.label), class_="name", dir="auto"),
            element("span", call.asked, class_="says", dir="auto"),
            element("span", several(call.retries, "retry", "retries"), class_="tag") if call.retries else None,
            ticking(call.started),
        )
        for call in calls[:6]
    ]
    more = element("li", f"and {len(calls) - 6} more") if len(calls) > 6 else None
    said = several(len(calls), "call") + " in flight"
    return element("details", element("summary", said), element("ul", shown, more), class_="flight", open="")
