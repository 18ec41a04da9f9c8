"""The start page: a box for what one wants to know, what may come of it and takes, the latest runs, recordings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from assay.demo import demos
from assay.launch.model_choices import Choices
from assay.protocol import RunType
from assay.report.standing import RunStanding
from assay.web.estimating import UsualRun
from assay.web.templating import render
from llm_runtime.store import RunSummary


@dataclass(frozen=True, slots=True)
class Played:
    """What is known of a recording here: its latest run, and why it cannot be played where it cannot."""

    run: RunSummary | None = None
    missing: str = ""


@dataclass(frozen=True, slots=True)
class Way:
    """A kind of run that may be begun: why the text suits it, empty where it does not, and what it will take."""

    run: RunType
    why: str = ""
    estimate: UsualRun | None = None


@dataclass(frozen=True, slots=True)
class StartBox:
    """What stands in the box and under it.

    Args:
        text: what was typed.
        ways: the kinds of run that can begin with a text.
        choices: the models.
        looked: whether anybody has looked for models yet.
        chosen: kind of run that was ticked.
        model: that was ticked.
        free: whether it costs nothing.
    """

    text: str
    ways: Sequence[Way]
    choices: Choices
    looked: bool
    chosen: str
    model: str
    free: bool


def home_page(
    box: StartBox, played: Mapping[str, Played], latest: list[RunSummary], seen: Mapping[str, RunStanding]
) -> str:
    """Return the page.

    Args:
        box: what stands in it.
        played: by recording.
        latest: the newest runs.
        seen: what is known of each beside.
    """
    protocols = [protocol for protocol, _ in demos().values()]
    under = choice_fragment(box)
    return render(
        "home.html", text=box.text, choice=under, protocols=protocols, played=played, latest=latest, seen=seen
    )


def choice_fragment(box: StartBox) -> Markup:
    """Return what stands under the box."""
    return render("choice.html", **{name: getattr(box, name) for name in box.__slots__})
