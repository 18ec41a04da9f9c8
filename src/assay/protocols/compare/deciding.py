"""When a comparison is decided: tests of its pairs that hold however often one looks, and whenever one stops."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations

from llm_runtime.statistics.betting import BernoulliEProcess
from llm_runtime.statistics.significance import holm

LEVEL = 0.05


def anytime_p(pairs: Iterable[tuple[bool, bool]]) -> float:
    """Return a p-value of "both are right equally often" that stays valid under optional stopping, 0 to 1.

    Of tasks that only one of the two got right each is the first's with probability 1/2 where they are alike: two
    one-sided e-processes bet against that, and the better one counts at twice its p-value.
    """
    more, less = BernoulliEProcess(0.5), BernoulliEProcess(0.5, "less")
    for first, second in pairs:
        if first != second:
            more, less = more.observe(first), less.observe(first)
    return min(1.0, 2 * min(more.p_value, less.p_value))


def pairs_p(tasks: Sequence[Mapping[str, bool]], methods: Sequence[str]) -> dict[tuple[str, str], float]:
    """Return the anytime p-value of each pair of methods, corrected for the number of pairs (Holm).

    Args:
        tasks: by method whether it was right, of checkable tasks in their order.
        methods: two or more.
    """
    pairs = list(combinations(methods, 2))
    return dict(zip(pairs, holm([anytime_p((own[a], own[b]) for own in tasks) for a, b in pairs]), strict=True))


def decided(tasks: Sequence[Mapping[str, bool]], methods: Sequence[str]) -> bool:
    """Tell whether every pair of methods differs, at 5% over the whole sequence."""
    found = pairs_p(tasks, methods)
    return bool(found) and max(found.values()) <= LEVEL
