"""One measured figure and the bound it is held to."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure with its unit; ``at_most`` and ``at_least`` are the project's own bounds, where it has set one."""

    name: str
    value: float
    unit: str
    at_most: float | None = None
    at_least: float | None = None

    @property
    def held(self) -> bool:
        """Whether the figure is within its bounds."""
        return (self.at_most is None or self.value <= self.at_most) and (
            self.at_least is None or self.value >= self.at_least
        )

    def row(self) -> str:
        """One aligned line."""
        bound = ""
        if self.at_most is not None:
            bound = f"at most {self.at_most:g} {self.unit}"
        elif self.at_least is not None:
            bound = f"at least {self.at_least:g} {self.unit}"
        mark = "" if not bound else "  ok" if self.held else "  OVER"
        return f"{self.name:<68}{self.value:>10.3g} {self.unit:<8}{bound:<20}{mark}"


def spread(
    name: str, values: list[float], unit: str, at_most: float | None = None, at_least: float | None = None
) -> Figure:
    """Return the median of repetitions, with the least and the most of them in its name."""
    return Figure(f"{name} ({min(values):.3g} to {max(values):.3g})", median(values), unit, at_most, at_least)
