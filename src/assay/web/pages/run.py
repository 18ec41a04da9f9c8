"""A run's page: the head that all its views share, and the story as parts that a live page exchanges one by one."""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass

from markupsafe import Markup

from assay.protocol import RunType
from assay.registry import hooks_for, known, protocol_of
from assay.report.story import Section, Story
from assay.web.brought import run_links
from assay.web.live_runs import LiveRun
from assay.web.pages.asking import Ask, asking
from assay.web.templating import render

_SLUG = re.compile(r"[^a-z0-9]+")


@dataclass(frozen=True, slots=True)
class RunPageState:
    """What a run's page knows beside its log.

    Args:
        owned: whether this server carries the run out, and so can stop it.
        asks: what the run wants to know from a person.
        fault: why it ended, where its log does not say.
        acts: whether whoever looks may act on it.
        starts: whether they may begin another from it.
        shared: whether everybody on this server sees it; ``None`` where there is one person alone.
    """

    owned: bool = False
    asks: tuple[Ask, ...] = ()
    fault: str = ""
    acts: bool = True
    starts: bool = True
    shared: bool | None = None


@dataclass(frozen=True, slots=True)
class WaysOn:
    """How to go on from a run.

    Args:
        follow: the kind of run that takes up its result; empty where none does.
        field: of that kind, that takes a question.
        challenge: of that kind, that takes a sentence to attack; empty where none does.
        forks: whether it can be run again from any call.
        interjects: whether something can be said to it now.
        parent: the run that it came from, or empty.
    """

    follow: str
    field: str
    challenge: str
    forks: bool
    interjects: bool
    parent: str


@dataclass(frozen=True, slots=True)
class PageParts:
    """A view in exchangeable pieces: their markup by element id, and the order of those in the main column."""

    pieces: dict[str, Markup]
    order: tuple[str, ...]


def story_parts(watch: LiveRun, page_state: RunPageState) -> PageParts:
    """Return the story, section by section."""
    story = watch.story()
    named = _named(story.sections)
    sections = {
        name: render("section.html", name=name, heading=section.heading, blocks=section.blocks)
        for name, section in named.items()
    }
    contents = [(name, section.heading) for name, section in named.items()]
    return PageParts({**head_parts(watch, story, page_state, "story", contents), **sections}, tuple(sections))


def head_parts(
    watch: LiveRun, story: Story, page_state: RunPageState, view: str, contents: list[tuple[str, str]]
) -> dict[str, Markup]:
    """Return what stands above every view of a run: title, figures, actions, what happens now, open questions."""
    started = watch.started
    recorded, run = started.origin == "demo", known(started.protocol)
    hooks = hooks_for(started.protocol)
    # While it runs the panel above counts, and what comes and goes beside the text would move it.
    figures = () if watch.state == "running" else story.facts
    return {
        "masthead": render(
            "masthead.html",
            run_id=watch.run_id,
            state=watch.state,
            view=view,
            links=run_links(started.protocol, watch.run_id) if watch.state == "finished" else [],
            story=story,
            standing=story.standing,
            guide=protocol_of(run.name).how if run and recorded and view == "story" else None,
            page_state=page_state,
            going=_ways_on(watch, run, page_state),
            handout=hooks.file if page_state.acts and watch.state == "finished" else None,
        ),
        "now": render(
            "now.html",
            progress=watch.fold.progress() if view == "story" else None,
            state=watch.state,
            contents=contents,
            time=watch.head.milliseconds,
            seatless=hooks.seatless,
            waits=[wait for key, wait in watch.head.waits.items() if "/" not in key],
            calls=[(call, watch.head.waits.get(str(call.label))) for call in watch.head.tally.running.values()],
            steps=watch.steps(3),
        ),
        "asks": asking(watch.run_id, page_state.asks),
        "contents": render("contents.html", contents=contents, figures=figures),
    }


def _ways_on(watch: LiveRun, run: RunType | None, page_state: RunPageState) -> WaysOn:
    """Return how somebody who looks at a run can go on from it."""
    started, hooks = watch.started, hooks_for(watch.started.protocol)
    forks = page_state.starts and hooks.replayable
    follows = page_state.starts and bool(hooks.follow) and watch.state == "finished"
    stands = watch.state in ("interrupted", "stopped", "failed") or page_state.owned
    return WaysOn(
        follow=run.name if run and follows else "",
        field=run.opening.field if run and run.opening else "",
        challenge=hooks.challenge if follows else "",
        forks=forks,
        interjects=forks and page_state.acts and stands and started.origin != "demo",
        parent=started.parent or str(started.task.get(hooks.follow) or ""),
    )


def run_page(watch: LiveRun, parts: PageParts, view: str, mark: str | None, beside: Markup | None = None) -> str:
    """Return the page of a view.

    Args:
        watch: the run.
        parts: what the page shows.
        view: which one it is.
        mark: of what it shows; its script keeps it up to date from there. ``None`` for a page that stays as it is.
        beside: what people wrote beside the run.
    """
    return render(
        "run.html",
        title=watch.started.title or watch.run_id,
        run_id=watch.run_id,
        parts=parts,
        beside=beside,
        view=view,
        seq=watch.seq,
        mark=mark,
        live=bool(mark) and is_live(watch),
    )


def is_live(watch: LiveRun) -> bool:
    """Tell whether more events may come: the run goes on, or may be resumed."""
    return watch.state == "running" or (watch.state != "finished" and watch.started.origin != "demo")


def _named(sections: tuple[Section, ...]) -> dict[str, Section]:
    """Return sections by a name that stays with them when others come in between."""
    named: dict[str, Section] = {}
    for each in sections:
        slug = _SLUG.sub("-", each.heading.lower()).strip("-")[:40] or "section"
        names = (f"s-{slug}" if count == 1 else f"s-{slug}-{count}" for count in itertools.count(1))
        named[next(name for name in names if name not in named)] = each
    return named
