"""What n attempts with c successes say about k attempts: at least one succeeds, or all do."""

from __future__ import annotations

from math import comb


def pass_at_k(successes: int, attempts: int, k: int) -> float:
    """Return the unbiased estimate that at least one of k attempts succeeds: 1 - C(n - c, k) / C(n, k).

    Source: Chen et al. 2021, Evaluating Large Language Models Trained on Code, arXiv:2107.03374.

    Args:
        successes: c, 0 to attempts.
        attempts: n, at least 1.
        k: 1 to attempts.

    Returns:
        A probability; with k = 1 the plain success rate.

    Raises:
        ValueError: an argument is outside its range; more attempts than were made cannot be judged.
    """
    _check(successes, attempts, k)
    ways = comb(attempts, k)
    return (ways - comb(attempts - successes, k)) / ways


def pass_hat_k(successes: int, attempts: int, k: int) -> float:
    """Return the unbiased estimate that all of k attempts succeed, pass^k: C(c, k) / C(n, k).

    Source: Yao et al. 2024, τ-bench, arXiv:2406.12045.

    Args:
        successes: c, 0 to attempts.
        attempts: n, at least 1.
        k: 1 to attempts.

    Returns:
        A probability; never above :func:`pass_at_k`.

    Raises:
        ValueError: an argument is outside its range; more attempts than were made cannot be judged.
    """
    _check(successes, attempts, k)
    return comb(successes, k) / comb(attempts, k)


def _check(successes: int, attempts: int, k: int) -> None:
    if not 0 <= successes <= attempts:
        raise ValueError(f"successes must lie between 0 and {attempts}, not {successes}")
    if not 1 <= k <= attempts:
        raise ValueError(f"k must lie between 1 and the {attempts} attempts made, not {k}")
