"""The list of runs: what was asked, how it stands, what it took."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlencode

from assay.report.markup import Element, element
from assay.report.units import duration, money, several, short_count
from assay.web.pages.frame import lamp, moment, page
from llm_runtime.store import RunSummary

_NAMES = {"ai_crucible": "AI Crucible, one attempt", "trial": "AI Crucible", "persona": "Crux, a persona"}
ORIGINS = {"demo": "recording", "replay": "replay"}
STATES = ("running", "interrupted", "finished", "stopped", "failed")


@dataclass(frozen=True, slots=True)
class Choice:
    """What the reader of the list asked for; empty where nothing was."""

    search: str = ""
    protocol: str = ""
    state: str = ""
    before: str = ""

    def query(self, **changes: str) -> str:
        """The address of the list with something chosen otherwise."""
        fields = {"search": self.search, "protocol": self.protocol, "state": self.state, **changes}
        chosen = {name: value for name, value in fields.items() if value}
        return f"/runs?{urlencode(chosen)}" if chosen else "/runs"


def runs_page(found: list[RunSummary], choice: Choice, protocols: list[str], more: bool) -> str:
    """The page.

    Args:
        found: the runs to show, newest first.
        choice: how they were chosen.
        protocols: those to choose from.
        more: whether there are older ones.
    """
    live = any(run.state == "running" for run in found)
    return page(
        "Runs",
        element(
            "main",
            element(
                "div",
                element("h1", "Runs"),
                element("a", "New run", href="/new", class_="primary"),
                class_="title",
            ),
            _choosing(choice, protocols),
            element(
                "form",
                element(
                    "ol",
                    [row(run) for run in found],
                    id="list",
                    class_="runs",
                    data_refresh="2000" if live else None,
                ),
                _none(choice) if not found else None,
                element(
                    "div",
                    element("button", "Compare the two that are ticked", class_="quiet", id="compare"),
                    element("a", "Older runs", href=choice.query(before=found[-1].run_id)) if more else None,
                    class_="under",
                )
                if found
                else None,
                method="get",
                action="/compare",
            ),
            id="content",
            class_="sheet wider",
        ),
        here="Runs",
    )


def protocol_name(protocol: str) -> str:
    """What people call a protocol: ``"Fire Circle"``."""
    return _NAMES.get(protocol, protocol.replace("_", " ").title())


def cost_text(run: RunSummary) -> str:
    """What a run cost, as far as it is known."""
    if run.cost_unknown and not run.cost:
        return "cost unknown"
    return money(run.cost) + ("+" if run.cost_unknown else "")


def _choosing(choice: Choice, protocols: list[str]) -> Element:
    def select(name: str, label: str, options: list[tuple[str, str]], chosen: str) -> Element:
        entries = [
            element("option", text, value=value, selected="" if value == chosen else None)
            for value, text in [("", label), *options]
        ]
        return element("select", entries, name=name, aria_label=label)

    return element(
        "form",
        element(
            "input",
            type="search",
            name="search",
            value=choice.search,
            placeholder="Search titles and ids",
            aria_label="Search titles and ids",
            id="search",
        ),
        select("protocol", "All protocols", [(name, protocol_name(name)) for name in protocols], choice.protocol),
        select("state", "Any state", [(state, state) for state in STATES], choice.state),
        element("button", "Show", class_="quiet"),
        method="get",
        action="/runs",
        class_="choosing",
        role="search",
    )


def row(run: RunSummary, *, picks: bool = True) -> Element:
    """A run's line in a list; with ``picks`` it can be ticked."""
    took = duration(run.updated_at - run.started_at)
    figures = [several(run.calls, "call"), f"{short_count(run.input_tokens + run.output_tokens)} tokens"]
    marks = [element("span", ORIGINS.get(run.origin, run.origin), class_="tag")] if run.origin != "live" else []
    if run.parent:
        marks.append(element("span", "fork", class_="tag"))
    return element(
        "li",
        element(
            "input",
            type="checkbox",
            name="run",
            value=run.run_id,
            aria_label=f"Compare {run.title}",
            id=f"pick-{run.run_id}",
        )
        if picks
        else None,
        element(
            "div",
            element("a", run.title or run.run_id, href=f"/runs/{run.run_id}", dir="auto", class_="what"),
            element(
                "p",
                lamp(run.state),
                element("span", protocol_name(run.protocol)),
                *marks,
                moment(run.started_at),
                class_="meta",
            ),
        ),
        element(
            "p",
            element("span", cost_text(run), class_="cost") if run.calls else None,
            element("span", " · ".join([*figures, took] if run.calls else [took])),
            class_="figures",
        ),
        class_="item" if picks else "item plainly",
        id=f"run-{run.run_id}",
    )


def _none(choice: Choice) -> Element:
    if choice != Choice():
        return element("p", "No run fits. ", element("a", "Show all of them", href="/runs"), class_="empty")
    return element(
        "p",
        "No runs yet. ",
        element("a", "Start one", href="/new"),
        ", or play a recorded one from the ",
        element("a", "start page", href="/"),
        "; that needs no model.",
        class_="empty",
    )
