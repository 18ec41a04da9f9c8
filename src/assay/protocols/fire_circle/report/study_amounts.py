"""How a study's figures are written: shares, differences, intervals, p, spend."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from assay.protocols.fire_circle.study.figures import Figures
from assay.report import units
from assay.report.story import Column, Note, Section, Table
from assay.report.units import count
from fire_circle.results import Spend
from llm_runtime.statistics.interval import Interval


def table(
    heads: Sequence[str], rows: Iterable[tuple[str, ...]], *last: tuple[str, ...], texts: int = 1, caption: str = ""
) -> Table:
    """Return a table whose first columns are ``texts`` and whose others are numbers."""
    columns = (Column(head, "text" if place < texts else "number") for place, head in enumerate(heads))
    return Table(tuple(columns), tuple(rows), *last, caption=caption)


def not_measured(figures: Figures, what: str, title: str) -> Section | None:
    """Return the section of a measurement that could not be made; ``None`` where nobody wanted it."""
    why = figures.absent.get(what)
    return Section(title, (Note(f"Not measured: {why}.", "warning"),)) if why else None


def percent(value: float) -> str:
    """Return a share as per cent, one decimal where it is not whole."""
    return f"{value * 100:.1f}".removesuffix(".0") + "%"


def signed(value: float) -> str:
    """Return a difference of shares in points."""
    return "0" if abs(value) < 5e-4 else f"{value * 100:+.1f}".removesuffix(".0").replace("-", "−")


def shift(value: float) -> str:
    """Return a difference of F."""
    return "0" if abs(value) < 5e-3 else f"{value:+.2f}".replace("-", "−")


def reach(interval: Interval) -> str:
    """Return the bounds of a share."""
    return f"{percent(interval.low)} to {percent(interval.high)}"


def area(interval: Interval) -> str:
    """Return an area under a curve with its bounds."""
    return f"{interval.estimate:.3f} ({interval.low:.3f} to {interval.high:.3f})"


def shifts(interval: Interval) -> str:
    """Return the bounds of a difference of F."""
    return f"{shift(interval.low)} to {shift(interval.high)}"


def threshold(value: float) -> str:
    """Return a threshold on F, which may lie above everything seen."""
    return f"{value:.2f}" if value <= 1 else "above every score"


def p_value(value: float) -> str:
    """Return the p of a test."""
    return "<0.001" if value < 0.001 else f"{value:.3f}"


def cost(spend: Spend) -> str:
    """Return what calls cost; a + where some have no known price."""
    return units.cost(spend.cost, spend.calls, spend.unpriced_calls)


def spent(spend: Spend) -> tuple[str, ...]:
    """Return calls, tokens in, tokens out, cost."""
    return count(spend.calls), count(spend.input_tokens), count(spend.output_tokens), cost(spend)
