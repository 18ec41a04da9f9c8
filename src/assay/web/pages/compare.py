"""Two runs side by side: figures, then section beside section, what the second says anew marked."""

from __future__ import annotations

from dataclasses import replace

from assay.report.changes import changes
from assay.report.html import block_html
from assay.report.markup import Element, element
from assay.report.story import Block, Prose, Section, Story
from assay.web.pages.frame import lamp, page
from assay.web.pages.runs import protocol_name
from llm_runtime.store import RunSummary

Side = tuple[RunSummary, Story]


def compare_page(left: Side, right: Side) -> str:
    """The page."""
    first, second = ({section.heading: section for section in story.sections} for _, story in (left, right))
    headings = list(dict.fromkeys([*first, *second]))
    rows = [_row(heading, first.get(heading), second.get(heading)) for heading in headings]
    return page(
        "Compare",
        element(
            "main",
            element("h1", "Side by side"),
            element("div", _head(*left, "A", right[1]), _head(*right, "B", left[1]), class_="pair heads"),
            element("p", "Marked in B: what A does not say.", class_="legend"),
            rows,
            id="content",
            class_="sheet full",
        ),
        here="Runs",
    )


def pick_page(chosen: RunSummary | None, others: list[RunSummary]) -> str:
    """The page where the second run, or both, are chosen."""
    picks = [chosen] if chosen else []
    rows = [
        element(
            "li",
            element(
                "a",
                element("span", run.title or run.run_id, class_="what", dir="auto"),
                element(
                    "span",
                    lamp(run.state),
                    element("span", protocol_name(run.protocol)),
                    element("span", run.run_id),
                    class_="meta",
                ),
                href=f"/compare?run={chosen.run_id}&run={run.run_id}" if chosen else f"/compare?run={run.run_id}",
            ),
            class_="item",
        )
        for run in others
        if run not in picks
    ]
    title = "Compare with which run?" if chosen else "Compare which run?"
    empty = element("p", "There is no other run yet.", class_="empty") if not rows else None
    about = element("p", chosen.title, class_="back", dir="auto") if chosen else None
    main = element(
        "main", about, element("h1", title), element("ol", rows, class_="runs picks"), empty,
        id="content", class_="sheet",
    )  # fmt: skip
    return page(title, main, here="Runs")


def _head(run: RunSummary, story: Story, letter: str, other: Story) -> Element:
    facts = [
        element(
            "div",
            element("dt", fact.label),
            element("dd", fact.value),
            class_=None if fact in other.facts else "differs",
        )
        for fact in story.facts
    ]
    return element(
        "div",
        element("p", element("b", letter), lamp(run.state, story.subtitle), class_="meta"),
        element("h2", element("a", story.title, href=f"/runs/{run.run_id}"), dir="auto"),
        element("dl", facts, class_="facts"),
    )


def _row(heading: str, left: Section | None, right: Section | None) -> Element:
    before = left.blocks if left else ()
    after = _marked(before, right.blocks) if right and left else right.blocks if right else ()
    return element(
        "section",
        element("h2", heading),
        element("div", _column(before), _column(after), class_="pair"),
        class_="across",
    )


def _column(blocks: tuple[Block, ...]) -> Element:
    if not blocks:
        return element("div", element("p", "Not in this run.", class_="empty"))
    return element("div", [block_html(block) for block in blocks])


def _marked(before: tuple[Block, ...], after: tuple[Block, ...]) -> tuple[Block, ...]:
    """The leading texts of a section with what is new in them marked; texts further down are other voices."""
    old = "\n\n".join(block.text for block in before if isinstance(block, Prose))
    if not old:
        return after
    return tuple(
        replace(block, changed=changes(old, block.text).marks) if isinstance(block, Prose) else block
        for block in after
    )
