"""The start page: what the five protocols are for, a recorded run of each to look at, and the latest runs."""

from __future__ import annotations

from dataclasses import dataclass

from assay.report.markup import Element, element
from assay.web.pages.frame import button, page
from assay.web.pages.guides import GUIDES, Guide
from assay.web.pages.runs import row
from llm_runtime.store import RunSummary


@dataclass(frozen=True, slots=True)
class Played:
    """What is known of a recording here: its latest run, and why it cannot be played where it cannot."""

    run: RunSummary | None = None
    missing: str = ""


def home_page(played: dict[str, Played], latest: list[RunSummary], reachable: list[str]) -> str:
    """The page.

    Args:
        played: by recording.
        latest: the newest runs.
        reachable: hosted providers that have a key.
    """
    key = (
        f"Models are reached through {', '.join(reachable)}."
        if reachable
        else "No provider has a key here yet. The recordings need none; for runs of your own: assay keys set, a "
        "local model server, or yourself in a seat."
    )
    return page(
        "Start",
        element(
            "main",
            element("h1", "What would survive an objection?"),
            element(
                "p",
                "Assay puts questions, prompts, models, specifications and disagreements under pressure by several "
                "language models, and keeps everything they said. There are five ways to do that. Each can be "
                "watched in a recorded run: the answers in it were written by hand, all else is the real engine.",
                class_="about",
            ),
            element("ol", [_guide(guide, played[guide.recording]) for guide in GUIDES], class_="guides"),
            _latest(latest),
            element("p", key, class_="legend"),
            id="content",
            class_="sheet wider",
        ),
        here="Start",
    )


def _guide(guide: Guide, played: Played) -> Element:
    return element(
        "li",
        element("div", element("h2", guide.name), element("p", guide.gets, class_="gets"), class_="names"),
        element(
            "div",
            element("p", guide.goes),
            element("p", element("b", "The recording: "), guide.shows, class_="shows"),
            _ways(guide, played),
        ),
        id=f"guide-{guide.recording}",
        class_="guide",
    )


def _ways(guide: Guide, played: Played) -> Element:
    see = again = note = None
    if played.run is not None:
        words = "Watch the recording" if played.run.state == "running" else "Look at the recording"
        see = element("a", words, href=f"/runs/{played.run.run_id}", class_="primary")
    if played.missing:
        note = element("span", f"It was played beforehand. To play it here, {played.missing}", class_="hint")
        if played.run is None:
            again = _play(guide.recording, "Look at the recording", "primary")
    elif played.run is None or played.run.state != "running":
        words = "Play it again" if played.run else "Play the recording"
        again = _play(guide.recording, words, None if played.run else "primary")
    own = element("a", "Start your own", href=f"/new?protocol={guide.form}", class_="quiet")
    return element("div", see, again, own, note, class_="ways")


def _play(recording: str, words: str, class_: str | None) -> Element:
    return button(words, "/play", ("name", recording), class_=class_)


def _latest(latest: list[RunSummary]) -> Element | None:
    if not latest:
        return None
    more = element("a", "All runs", href="/runs")
    return element(
        "section",
        element("div", element("h2", "Latest runs"), more, class_="title"),
        element("ol", [row(run, picks=False) for run in latest], class_="runs"),
    )
