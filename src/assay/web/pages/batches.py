"""The list of batches, and the page of one: its report, as the file of it would be."""

from __future__ import annotations

from assay.batch.progress import Progress
from assay.report.html import block_html
from assay.report.markup import Element, element
from assay.report.story import Story
from assay.report.units import count, money, several
from assay.web.pages.frame import lamp, moment, page
from assay.web.pages.runs import protocol_name
from llm_runtime.store import RunState

_LAMPS: dict[str, RunState] = {
    "finished": "finished",
    "running": "running",
    "loading": "running",
    "idle": "interrupted",
}


def batches_page(found: list[Progress]) -> str:
    """The list, newest first."""
    live = any(progress.state == "running" for progress in found)
    rows = [_row(progress) for progress in found]
    return page(
        "Batches",
        element(
            "main",
            element("div", element("h1", "Batches"), class_="title"),
            element("ol", rows, id="list", class_="runs", data_refresh="2000" if live else None),
            None if found else _none(),
            id="content",
            class_="sheet wider",
        ),
        here="Batches",
    )


def batch_page(progress: Progress, story: Story) -> str:
    """One batch."""
    facts = [element("div", element("dt", fact.label), element("dd", fact.value)) for fact in story.facts]
    sections = [
        element("section", element("h2", section.heading), [block_html(block) for block in section.blocks])
        for section in story.sections
    ]
    return page(
        story.title,
        element(
            "main",
            element("h1", story.title, dir="auto"),
            element("p", _lamp(progress, story.subtitle), class_="meta"),
            element(
                "div",
                element("dl", facts, class_="facts"),
                sections,
                id="list",
                data_refresh="2000" if progress.state == "running" else None,
            ),
            element("p", element("a", "The runs of this batch", href=f"/runs?search={progress.batch.tag}-")),
            id="content",
            class_="sheet wider",
        ),
        here="Batches",
    )


def _row(progress: Progress) -> Element:
    batch, standing = progress.batch, progress.standing
    failed = sum(standing.failed.values())
    return element(
        "li",
        element(
            "div",
            element("a", batch.title, href=f"/batches/{batch.batch_id}", dir="auto", class_="what"),
            element(
                "p",
                _lamp(progress),
                element("span", protocol_name(batch.protocol)),
                element("span", batch.batch_id),
                moment(batch.created_at // 1000),
                class_="meta",
            ),
        ),
        element(
            "p",
            element("span", money(progress.purse.spent.cost), class_="cost"),
            element(
                "span",
                f"{count(standing.states.get('done', 0))} of {several(standing.total, 'job')}"
                + (f" · {count(failed)} failed" if failed else ""),
            ),
            class_="figures",
        ),
        class_="item plainly",
        id=f"batch-{batch.batch_id}",
    )


def _lamp(progress: Progress, words: str = "") -> Element:
    return lamp(_LAMPS.get(progress.state, "stopped"), words or progress.state)


def _none() -> Element:
    return element(
        "p", "No batches yet. Make one with: ", element("code", "assay batch run JOB.toml"), class_="empty"
    )
