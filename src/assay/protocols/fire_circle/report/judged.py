"""One judged prompt as build servers are shown it: what was found, where it stands, and what stops the build."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from assay.protocols.fire_circle.task import Task, hidden_of
from assay.report.clean import one_line
from fire_circle import PatternObservation
from fire_circle.hidden import Hidden, visible


@dataclass(frozen=True)
class Judged:
    """One judged prompt.

    Args:
        task: its layers, and where they stand.
        scores: the verdict in one line.
        patterns: what the circle agreed on.
        fired: the gates that stop the build, each with what happened.
        name: of the case in its suite; empty where there is one prompt.
        mode: how it was judged.
        partial: whether a seat failed or an alarm fell silent.
        silent: seats that gave no score, one line each.
        error: why there is no verdict.
    """

    task: Task
    scores: str
    patterns: Sequence[PatternObservation] = ()
    fired: Mapping[str, str] = field(default_factory=dict[str, str])
    name: str = ""
    mode: str = "fire_circle"
    partial: bool = False
    silent: Sequence[str] = ()
    error: str = ""

    @property
    def hidden(self) -> tuple[Hidden, ...]:
        """What nobody sees in it."""
        return hidden_of(self.task)

    @property
    def summary(self) -> str:
        """All of it as a few lines for a person."""
        lines = [self.scores]
        lines += [
            f"{pattern.pattern_type} ({pattern.model_agreement:.0%}): {one_line(pattern.description)}\n"
            + "\n".join(f"    > {one_line(visible(quote).text)}" for quote in pattern.examples)
            for pattern in self.patterns
        ]
        lines += self.silent
        return "\n".join([*lines, *(f"hidden, {piece.kind}: {one_line(piece.shown)}" for piece in self.hidden)])


def scores_line(falsehood: float, truth: float, indeterminacy: float) -> str:
    """Return a triple in one line."""
    return f"F {falsehood:.2f}, T {truth:.2f}, I {indeterminacy:.2f}"
