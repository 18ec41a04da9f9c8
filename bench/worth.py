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
from assay.protocols.compare.spending import paid, together

TASKS = 60
#: What is paid elsewhere, as an exchange: a token of output as four or eight of input, one from a cache as a tenth.
OTHERWISE = ("1:0.5:4", "1:0.1:5", "1:0.1:8")


def told(seeds: range, words: str, *, priced: bool) -> None:
    """Print how many intervals hold the true difference, which is the mean of all, and what equal spends were."""
    found: dict[tuple[str, str], list[tuple[Comparison, float, dict[str, float]]]] = defaultdict(list)
    for seed in seeds:
        model = Simulated(seed, priced=priced)
        result = asyncio.run(compared(model, TASKS))
        took = {
            one.method: together([row for row in result.rows if row.method == one.method]) for one in result.methods
        }
        for pair in result.comparisons:
            others = {unit: paid(took[pair.a], unit) / paid(took[pair.b], unit) for unit in OTHERWISE}
            found[pair.a, pair.b].append((pair, model.spent[pair.a] / model.spent[pair.b], others))
    for (a, b), all_of in found.items():
        spans = [pair.difference for pair, *_ in all_of if pair.difference]
        truth = fmean(span.estimate for span in spans)
        held = sum(truth in span for span in spans)
        print(f"{words}: {a} - {b}: {truth:+.1%}; {held} of {len(spans)} hold it ({held / len(spans):.1%})", flush=True)
        equal = [one for one in all_of if one[0].equal_spend]
        for unit in ("USD", *(() if priced else OTHERWISE)) if equal else ():
            ratios = [ratio if unit == "USD" else others[unit] for _, ratio, others in equal]
            within = sum(0.9 <= one <= 1.1 for one in ratios)
            reach = f"{min(ratios):.3f} to {max(ratios):.3f}, mean {fmean(ratios):.3f}"
            print(f"  called equal {len(equal)}; in {unit} {reach}, {within} within", flush=True)


def main(runs: int) -> None:
    """Print the figures."""
    told(range(runs), "priced", priced=True)
    told(range(runs, 2 * runs), "unpriced", priced=False)
    verdicts = 0
    for seed in range(runs // 4):
        model = Simulated(seed, priced=bool(seed % 2), begins=False)
        pairs = asyncio.run(compared(model, 10)).comparisons
        verdicts += sum(one.difference is not None for one in pairs if "council" in (one.a, one.b))
    print(f"no triage: {verdicts} verdicts about the council in {runs // 4} comparisons", flush=True)


if __name__ == "__main__":
    main(int((sys.argv[1:] or ["500"])[0]))
