"""Means of values that come in clusters: what their intervals cover, and when 0 is excluded."""

from __future__ import annotations

import random
from math import sqrt

import pytest

from llm_runtime.statistics.clustered import clustered


@pytest.mark.parametrize(
    ("clusters", "quantile"), [(2, 12.70620), (3, 4.30265), (4, 3.18245), (5, 2.77645), (8, 2.36462), (31, 2.04227)]
)
def test_few_clusters_have_the_quantile_of_students_t_that_tables_give_or_a_safer_one(
    clusters: int, quantile: float
) -> None:
    """The mean lies as far below 0 as the interval reaches, so that its p-value is 5%."""
    shifts = [0.001 * (one - (clusters - 1) / 2) for one in range(clusters)]
    error = sqrt(sum(one * one for one in shifts) / (clusters - 1) / clusters)
    found, p = clustered([[one - quantile * error, one - quantile * error] for one in shifts])
    reach = (found.high - found.estimate) / error
    assert quantile <= reach <= quantile * (1.05 if clusters > 2 else 1.4)
    assert 0.0499 <= p <= (0.055 if clusters > 2 else 0.08)


def test_intervals_of_three_clusters_cover() -> None:
    """By the normal approximation with its first correction it was 0.90."""
    draw, covered = random.Random(11), 0
    for _ in range(500):
        rates = [draw.uniform(0.2, 0.8) for _ in range(3)]
        found, _ = clustered([[draw.random() < rate for _ in range(20)] for rate in rates], 0)
        covered += 0.5 in found
    assert 0.92 <= covered / 500 <= 0.98


@pytest.mark.parametrize(("clusters", "times", "spread"), [(12, 1, 0.3), (12, 5, 0.3), (40, 4, 0.0), (150, 3, 0.45)])
def test_intervals_cover_however_alike_the_answers_to_one_task_are(clusters: int, times: int, spread: float) -> None:
    """Each task has a rate of its own, around 0.5; answers to it are drawn with that."""
    draw, covered, rejected = random.Random(clusters + times), 0, 0
    for _ in range(400):
        rates = [0.5 + draw.uniform(-spread, spread) for _ in range(clusters)]
        found, p = clustered([[(draw.random() < rate) - 0.5 for _ in range(times)] for rate in rates])
        covered += 0 in found
        rejected += p <= 0.05
    assert 0.92 <= covered / 400 <= 0.98
    assert rejected <= 0.08 * 400


def test_one_task_shows_nothing_and_tasks_that_are_all_alike_not_more_than_there_are() -> None:
    assert clustered([[1.0, 1.0]])[1] == 1.0
    found, p = clustered([[1.0, 1.0]] * 5, 0)
    assert found.estimate == found.high == 1.0 and 0.3 < found.low < 0.6 and p < 0.05
    found, p = clustered([[0.0, 1.0], [1.0, 0.0], [0.5, 0.5]], 0)
    assert found.estimate == 0.5 and found.low < 0.1 and p > 0.05
    found, p = clustered([[0.0, 0.0]] * 10)
    assert found.low < 0 < found.high and p == 1.0
