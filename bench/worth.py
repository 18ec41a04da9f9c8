"""Whether comparisons say what is so, with simulated models whose accuracy is known: ``python -m bench.worth [RUNS]``.

Calls fail in 5%, answers refuse in 20%, lengths are lognormal with sigma 1.2, part of the input is from a cache. So
many comparisons of 60 tasks are made with prices and as many without; a quarter as many by a model whose triage
always fails. The bars: intervals hold the true difference in 93 to 97%, what is called equal spend is within .9 to 1.1
in dollars, and nothing is said of a council that could not begin.
"""

from __future__ import annotations

import asyncio
import sys
from collections import defaultdict
from statistics import fmean

from tests.assay.compare.test_worth import Simulated, compared

from assay.protocols.compare.figures import Comparison

TASKS = 60
Seen = dict[tuple[str, str], list[tuple[Comparison, float]]]


def seen(seeds: range, *, priced: bool) -> Seen:
    """Return by pair what each comparison says, and the true ratio of dollars."""
    found: Seen = defaultdict(list)
    for seed in seeds:
        model = Simulated(seed, priced=priced)
        for pair in asyncio.run(compared(model, TASKS)).comparisons:
            found[pair.a, pair.b].append((pair, model.spent[pair.a] / model.spent[pair.b]))
    return found


def told(found: Seen, words: str) -> None:
    """Print how many intervals hold the true difference, which is the mean of all, and what equal spends were."""
    for (a, b), all_of in found.items():
        spans = [pair.difference for pair, _ in all_of if pair.difference]
        truth = fmean(span.estimate for span in spans)
        held = sum(truth in span for span in spans)
        equal = [ratio for pair, ratio in all_of if pair.equal_spend]
        reach = (
            f"{min(equal):.3f} to {max(equal):.3f}, {sum(0.9 <= r <= 1.1 for r in equal)} within" if equal else "none"
        )
        ratio = fmean(ratio for _, ratio in all_of)
        print(f"{words}: {a} - {b}: {truth:+.1%}; {held} of {len(spans)} hold it ({held / len(spans):.1%}); dollars "
              f"{ratio:.3f} over all; called equal {len(equal)}: {reach}", flush=True)  # fmt: skip


def main(runs: int) -> None:
    """Print the figures."""
    for words, priced in (("priced", True), ("unpriced", False)):
        told(seen(range(runs), priced=priced), words)
    verdicts = 0
    for seed in range(runs // 4):
        model = Simulated(seed, priced=bool(seed % 2), begins=False)
        pairs = asyncio.run(compared(model, 10)).comparisons
        verdicts += sum(one.difference is not None for one in pairs if "council" in (one.a, one.b))
    print(f"no triage: {verdicts} verdicts about the council in {runs // 4} comparisons", flush=True)


if __name__ == "__main__":
    main(int((sys.argv[1:] or ["500"])[0]))
