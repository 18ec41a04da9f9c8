"""Models that made the same attempts, compared, in lines."""

from __future__ import annotations

from ai_crucible.events import TrialsCompared
from assay.report.units import count_noun, saved


def compared_lines(compared: TrialsCompared) -> list[str]:
    """Return what a comparison came to: each pair, then whether and when it was decided, and what that saved."""
    lines = [
        f"{compared.trials[pair.a]} against {compared.trials[pair.b]}: {pair.only_a} passed by the first alone, "
        f"{pair.only_b} by the second alone, {pair.both} by both, {pair.neither} by neither; e-value {pair.e:.3g}, "
        f"p at any time {pair.p:.3g}"
        for pair in compared.pairs
    ]
    if not compared.decided:
        cut = compared.after < compared.planned
        why = f"; the next of {compared.planned} died, and none behind it is compared" if cut else ""
        return [*lines, f"not decided after {count_noun(compared.after, 'attempt')} of each{why}"]
    made = f"decided at {compared.at}: after {compared.after} of {compared.planned} of each"
    if not compared.left_out:
        return [*lines, made]
    spared = saved(compared.saved, compared.saved_in)
    return [*lines, f"{made}; {count_noun(compared.left_out, 'attempt')} not made, about {spared} saved"]
