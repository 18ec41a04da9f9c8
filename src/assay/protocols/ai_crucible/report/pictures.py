"""What trials are called in pictures, and the one that is drawn here: reliability over k."""

from __future__ import annotations

from collections.abc import Sequence

from ai_crucible.observability import ModelRollup
from assay.protocols.ai_crucible.report.words import ARM_NAMES
from assay.report.story import Figure
from assay.report.svg.lines import Polyline, line_chart
from assay.report.units import whole_percent

_MOST_K = 10
_FEWEST_STEPS = 3


def accent(index: int) -> str:
    """Return the colour class of the ``index``-th model."""
    return f"c{index % 6}"


def solver_name(model: str, arm: str, edition: int = 1) -> str:
    """Return a model under an arm; the neutral one, and the first edition, go without saying."""
    name = model if arm == "neutral" else f"{model}, {ARM_NAMES.get(arm, arm)}"
    return name if edition == 1 else f"{name}, version {edition} of what it was tried on"


def short_name(model: str, arm: str) -> str:
    """Return the same for a picture, whose labels are cut at their end: what tells models apart comes first."""
    name = model.removeprefix("assay/single/").removeprefix("openrouter/")
    url, sharp, served = name.partition("#")
    return solver_name(f"{served} at {url.partition('//')[2]}" if sharp and served else name, arm)


def reliability_picture(models: Sequence[ModelRollup]) -> Figure | None:
    """pass@k rising and pass^k falling with k; what lies between them is luck."""
    lines: list[Polyline] = []
    steps = range(1, min(min((m.reliability[0] for m in models if m.reliability), default=0), _MOST_K) + 1)
    if len(steps) < _FEWEST_STEPS:
        return None
    for index, model in enumerate(models):
        if not model.reliability:
            continue
        counted = [h for h in model.puzzles if h.attempts and not h.anchor]
        name = short_name(model.model, model.arm) if len(models) > 1 else ""
        at = tuple(sum(h.pass_at(k) for h in counted) / len(counted) for k in steps)
        hat = tuple(sum(h.pass_hat(k) for h in counted) / len(counted) for k in steps)
        colour = accent(index)
        lines += [Polyline(f"{name} pass@k".strip(), at, colour, frozenset(range(len(steps))))]
        lines += [Polyline(f"{name} pass^k".strip(), hat, colour)]
    alternative = "; ".join(f"{line.name}: {', '.join(whole_percent(v or 0) for v in line.values)}" for line in lines)
    svg = line_chart([f"k = {k}" for k in steps], lines, "Reliability over k attempts", f"{alternative}.")
    caption = (
        "Rings: at least one of k attempts passes (pass@k). Dots: all of k pass (pass^k). Means over puzzles of "
        "the unbiased estimates, anchors left out."
    )
    return Figure(svg, caption, f"{alternative}.")
