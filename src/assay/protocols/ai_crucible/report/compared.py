"""Models that made the same attempts, compared: in lines for the terminal, and as a part of the report."""

from __future__ import annotations

from ai_crucible.events import TrialsCompared
from assay.protocols.ai_crucible.report.trial_records import TrialRecords
from assay.report.story import Block, Note, Plain, Table, columns
from assay.report.units import count_noun, money, short_count

_HOW = (
    "Models made the same attempts, in an order drawn beforehand: every puzzle once in each round. Of attempts "
    "that only one of two passed, each is the first's with probability 1/2 where they are alike; the e-value is "
    "what a bet against that came to, and p holds however often one looks (Holm over the pairs). Where it stopped "
    "early, the difference looks larger than it is."
)


def compared_lines(compared: TrialsCompared) -> list[str]:
    """Return what a comparison came to: each pair, then whether and when it was decided, and what that saved."""
    lines = [
        f"{compared.trials[pair.a]} against {compared.trials[pair.b]}: {pair.only_a} passed by the first alone, "
        f"{pair.only_b} by the second alone, {pair.both} by both, {pair.neither} by neither; e-value {pair.e:.3g}, "
        f"p at any time {pair.p:.3g}"
        for pair in compared.pairs
    ]
    if not compared.decided:
        return [*lines, f"not decided after {count_noun(compared.after, 'attempt')} of each"]
    made = f"decided at {compared.at}: after {compared.after} of {compared.planned} of each"
    if not compared.left_out:
        return [*lines, made]
    saved = money(compared.saved) if compared.saved_in == "USD" else f"{short_count(compared.saved)} tokens"
    return [*lines, f"{made}; {count_noun(compared.left_out, 'attempt')} not made, about {saved} saved"]


def compared_blocks(trials: TrialRecords) -> list[Block]:
    """Return each comparison with its pairs; nothing where there is none."""
    numbers = ("Only the first", "Only the second", "Both", "Neither", "e-value", "p, any time")
    blocks: list[Block] = [Plain(_HOW)] if trials.compared else []
    for each in trials.compared:
        rows = tuple(
            (
                each.trials[pair.a],
                each.trials[pair.b],
                *map(str, (pair.only_a, pair.only_b, pair.both, pair.neither)),
                f"{pair.e:.3g}",
                f"{pair.p:.3g}",
            )
            for pair in each.pairs
        )
        blocks += [
            Note(f"{compared_lines(each)[-1].capitalize()}.", "good" if each.decided else "info"),
            Table(columns("Model", "Against", numbers=numbers), rows),
        ]
    return blocks
