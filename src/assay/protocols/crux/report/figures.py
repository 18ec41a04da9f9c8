"""The figures of a measurement as lines, and the runs that measured a persona's fidelity, or judged pairs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, cast

from assay.report.generic import GenericFold
from assay.report.story import Column, Section, Story, Table

_HEADS = ("Text", "Question", "Answer", "From their own texts", "From the control's")
_CASE = ("item", "question", "truth", "own", "control")


class FidelityFold(GenericFold):
    """The fold of a fidelity measurement: what any run has, and its figures."""

    protocol = "Crux"

    def story(self) -> Story:
        """Return the figures, every hidden text under them, and what they cost."""
        story, figures = super().story(), self.run.result
        if not figures:
            return story
        rows = tuple(figure_lines(figures))
        sections = [Section("Figures", (Table((Column("Figure"), Column("")), rows),))]
        if cases := figures.get("cases"):
            cells = tuple(tuple(str(case.get(name, "")) for name in _CASE) for case in cases)
            sections.append(Section("Hidden texts", (Table(tuple(map(Column, _HEADS)), cells),)))
        return replace(story, sections=(*sections, *story.sections))


class JudgingFold(GenericFold):
    """The fold of judged pairs: what any run has, each verdict, and the figures where people judged them too."""

    def story(self) -> Story:
        """Return the figures and every verdict."""
        story, result = super().story(), self.run.result
        if not result or self.run.started is None:
            return story
        pairs = self.run.started.task.get("pairs", [])
        rows = tuple(
            (verdict["kind"], pair.get("kind") or "", pair["premise"], pair["claim"], verdict.get("why", ""))
            for pair, verdict in zip(pairs, result["verdicts"], strict=True)
        )
        heads = ("Verdict", "By people", "Premise", "Claim", "Why")
        sections = [Section("Verdicts", (Table(tuple(map(Column, heads)), rows),))]
        if figures := result.get("figures"):
            lines = tuple(figure_lines(figures))
            sections.insert(0, Section("Figures", (Table((Column("Figure"), Column("")), lines),)))
        return replace(story, sections=(*sections, *story.sections))


def figure_lines(figures: Mapping[str, Any], under: str = "") -> Iterator[tuple[str, str]]:
    """Yield name and value of each figure; a share with its interval is one, and of a list its length."""
    for key, value in figures.items():
        name = f"{under}{key}"
        if isinstance(value, dict):
            table = cast("dict[str, Any]", value)
            if {"hits", "of"} <= table.keys():
                yield name, _share(table)
            else:
                yield from figure_lines(table, f"{name}.")
        elif isinstance(value, list):
            yield name, str(len(cast("list[Any]", value)))
        else:
            yield name, f"{value:.3f}" if isinstance(value, float) else str(value)


def _share(share: dict[str, Any]) -> str:
    text = f"{share['hits']} of {share['of']}"
    if share.get("low") is None:
        return text
    return f"{text} ({share['value']:.0%}, 95% interval {share['low']:.0%} to {share['high']:.0%})"
