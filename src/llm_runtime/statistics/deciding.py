"""When a comparison is decided: tests of its pairs that hold however often one looks, and whenever one stops."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations

from llm_runtime.statistics.betting import BernoulliEProcess
from llm_runtime.statistics.significance import holm

LEVEL = 0.05


def e_value(pairs: Iterable[tuple[bool, bool]]) -> float:
    """Return the highest wealth so far of who bets against "both are right equally often", at least 0.5.

    Of tasks that only one of the two got right each is the first's with probability 1/2 where they are alike: two
    one-sided e-processes bet against that with half of the stake each.
    """
    more, less = BernoulliEProcess(0.5), BernoulliEProcess(0.5, "less")
    for first, second in pairs:
        if first != second:
            more, less = more.observe(first), less.observe(first)
    return _better(more, less)


def anytime_p(pairs: Iterable[tuple[bool, bool]]) -> float:
    """Return a p-value of "both are right equally often" that stays valid under optional stopping, 0 to 1."""
    return min(1.0, 1 / e_value(pairs))


def _better(more: BernoulliEProcess, less: BernoulliEProcess) -> float:
    return 0.5 / min(more.p_value, less.p_value)


def pairs_p(tasks: Sequence[Mapping[str, bool]], methods: Sequence[str]) -> dict[tuple[str, str], float]:
    """Return the anytime p-value of each pair of methods, corrected for the number of pairs (Holm).

    Args:
        tasks: by method whether it was right, of checkable tasks in their order.
        methods: two or more.
    """
    pairs = list(combinations(methods, 2))
    return dict(zip(pairs, holm([anytime_p((own[a], own[b]) for own in tasks) for a, b in pairs]), strict=True))


def decided_after(tasks: Sequence[Mapping[str, bool]], methods: Sequence[str]) -> int:
    """Return after how many tasks every pair of methods differed at 5%; 0 where one never did.

    Args:
        tasks: as for :func:`pairs_p`.
        methods: two or more.
    """
    bets = {pair: (BernoulliEProcess(0.5), BernoulliEProcess(0.5, "less")) for pair in combinations(methods, 2)}
    for count, own in enumerate(tasks, 1):
        for (a, b), (more, less) in bets.items():
            if own[a] != own[b]:
                bets[a, b] = more.observe(own[a]), less.observe(own[a])
        if bets and max(holm([min(1.0, 1 / _better(*bet)) for bet in bets.values()])) <= LEVEL:
            return count
    return 0


def decided(tasks: Sequence[Mapping[str, bool]], methods: Sequence[str]) -> bool:
    """Tell whether every pair of methods differs, at 5% over the whole sequence."""
    return decided_after(tasks, methods) > 0
