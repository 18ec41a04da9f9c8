"""The figures of a measurement as lines, and the runs that judged pairs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, cast

from assay.report.columns import columns
from assay.report.generic import GenericFold
from assay.report.run import RunTotals
from assay.report.story import Section, Table


def _figures(run: RunTotals) -> Section | None:
    figures = tuple(figure_lines(run.result.get("figures") or {}))
    return Section("Figures", (Table(columns("Figure", ""), figures),)) if figures else None


def _verdicts(run: RunTotals) -> Section | None:
    pairs: list[dict[str, Any]] = run.started.task.get("pairs", []) if run.started else []
    rows = tuple(
        (verdict["kind"], pair.get("kind") or "", pair["premise"], pair["claim"], verdict.get("why", ""))
        for pair, verdict in zip(pairs, run.result["verdicts"], strict=True)
    )
    return Section("Verdicts", (Table(columns("Verdict", "By people", "Premise", "Claim", "Why"), rows),))


class JudgingFold(GenericFold):
    """The fold of judged pairs: each verdict, and the figures where people judged them too."""

    sections = (_figures, _verdicts)


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
