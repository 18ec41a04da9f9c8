"""The start page: what the five protocols are for, a recorded run of each to look at, and the latest runs."""

from __future__ import annotations

from dataclasses import dataclass

from assay.demo import demos
from assay.web.glimpses import Glimpse
from assay.web.templating import render
from llm_runtime.store import RunSummary


@dataclass(frozen=True, slots=True)
class Played:
    """What is known of a recording here: its latest run, and why it cannot be played where it cannot."""

    run: RunSummary | None = None
    missing: str = ""


def home_page(
    played: dict[str, Played], latest: list[RunSummary], seen: dict[str, Glimpse], reachable: list[str]
) -> str:
    """Return the page.

    Args:
        played: by recording.
        latest: the newest runs.
        seen: what is known of each beside.
        reachable: hosted providers that have a key.
    """
    return render(
        "home.html",
        protocols=[protocol for protocol, _ in demos().values()],
        played=played,
        latest=latest,
        seen=seen,
        reachable=reachable,
    )
