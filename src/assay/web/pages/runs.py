"""The list of runs: title, state, tokens, cost."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlencode

from assay.web.filters import protocol_name
from assay.web.glimpses import Glimpse
from assay.web.templating import render
from llm_runtime.store import RunSummary

STATES = ("running", "interrupted", "finished", "stopped", "failed")


@dataclass(frozen=True, slots=True)
class Choice:
    """How the reader filters the list; empty where not at all."""

    search: str = ""
    protocol: str = ""
    state: str = ""
    before: str = ""

    def query(self, before: str) -> str:
        """Return the query of the list of older runs, chosen in the same way."""
        fields = {"search": self.search, "protocol": self.protocol, "state": self.state, "before": before}
        return urlencode({name: value for name, value in fields.items() if value})


def runs_page(
    runs: list[RunSummary], seen: dict[str, Glimpse], choice: Choice, protocols: list[str], more: bool
) -> str:
    """Return the page.

    Args:
        runs: those to show, newest first.
        seen: what is known of each beside.
        choice: how they were chosen.
        protocols: those to choose from.
        more: whether there are older ones.
    """
    return render(
        "runs.html",
        runs=runs,
        seen=seen,
        choice=choice,
        filtered=choice != Choice(),
        protocols=[(name, protocol_name(name)) for name in protocols],
        states=[(state, state) for state in STATES],
        older=choice.query(runs[-1].run_id) if more else "",
        live=any(run.state == "running" for run in runs),
    )
