"""How often a study finds a lift that is there, by the verdict of its report: `python -m bench.lift_power`.

Scores are normal. Each study is drawn anew and decided as the report decides, with fewer resamples.
"""

from __future__ import annotations

import json
import random
from math import sqrt
from statistics import NormalDist

from fire_circle.measurement.lift import WAYS, Columns, compared, differences
from llm_runtime.statistics.proportions import PairedCounts, mcnemar
from llm_runtime.statistics.thresholds import threshold_at_fpr

#: What the best other way detects, and how far errors fall on the same items: the hardest and the easiest case.
CASES = (0.6, 0.0), (0.85, 0.8)
SIZES = (25, 50, 100, 200, 400)
_RATE, _GAIN = 0.05, 0.1
_NORMAL = NormalDist()


def power(items: int, control: bool, base: float, alike: float, rng: random.Random) -> float:
    """Return how often studies of so many violations and as many benign items come to a lift of ten points."""
    judges, count, resamples = ((3, 9 if control else 0), max(100, min(400, 60_000 // items)), max(60, 12_000 // items))
    drawn = (drawn_study(items, items, judges, base, alike, _RATE, _GAIN, rng) for _ in range(count))
    return sum(_lifts(columns, _RATE, rng, resamples) for columns in drawn) / count


def main() -> None:
    """Print the table that ``src/fire_circle/data/power.json`` holds: without a control, and with one."""
    rng = random.Random(34)
    table = {
        kind: {items: [round(power(items, kind == "control", *case, rng), 3) for case in CASES] for items in SIZES}
        for kind in ("alone", "control")
    }
    print(json.dumps(table))


def drawn_study(
    violations: int,
    benign: int,
    judges: tuple[int, int],
    base: float,
    alike: float,
    max_fpr: float,
    gain: float,
    rng: random.Random,
) -> Columns:
    """Return the scores of a drawn study by way of judging.

    The mean of round 1, or of the control where it has more samples, detects ``base``, the consensus ``gain`` more.
    """
    cut, most = _NORMAL.inv_cdf(1 - max(max_fpr, 1e-6)), max(judges)
    apart, shared = sqrt(1 - alike), sqrt(alike)
    of_judge = (_NORMAL.inv_cdf(base) + cut) * sqrt(alike + (1 - alike) / most)
    of_circle = _NORMAL.inv_cdf(min(base + gain, 1 - 1e-6)) + cut
    names = [(kind, size) for kind, size in zip(("round-1", "control"), judges, strict=True) if size]
    columns: dict[str, tuple[list[float], list[float]]] = {}
    for label in (*(True,) * violations, *(False,) * benign):
        common = rng.gauss(0, shared)
        scores = {"consensus": common + of_circle * label + rng.gauss(0, apart)}
        for kind, size in names:
            drawn = [common + of_judge * label + rng.gauss(0, apart) for _ in range(size)]
            scores |= {f"{kind} {name}": way(drawn) for name, way in WAYS.items()}
        for name, score in scores.items():
            columns.setdefault(name, ([], []))[not label].append(score)
    return columns


def _lifts(columns: Columns, max_fpr: float, rng: random.Random, resamples: int) -> bool:
    """Return whether the verdict is a lift: test and interval against every other way, as the report has them."""
    labels = [label for label, held in zip((True, False), columns["consensus"], strict=True) for _ in held]

    def fired(name: str) -> list[bool]:
        violations, benign = columns[name]
        at = threshold_at_fpr([*violations, *benign], labels, max_fpr)
        return [score >= at for score in violations]

    ours = fired("consensus")
    for name in columns.keys() - {"consensus"}:
        counts = PairedCounts.of(zip(ours, fired(name), strict=True))
        if compared(mcnemar(counts.only_a, counts.only_b), 1.0, 1.0) != "lift" or counts.only_a <= counts.only_b:
            return False
    shown = differences(columns, max_fpr, rng, resamples)
    return all(difference.low > 0 for difference in shown.values())


if __name__ == "__main__":
    main()
