"""What a schedule's five fields mean: kept from release to release, since schedules stand in databases."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from assay.queue.schedules import last_moment

pytest.importorskip("cronsim", reason="the extra scale is not installed")

NOW = datetime(2026, 9, 21, 14, 13, 20, 500_000, tzinfo=UTC).timestamp()  # a Monday


@pytest.mark.parametrize(
    ("cron", "last"),
    [
        ("0 6 * * *", "2026-09-21 06:00"),
        ("*/7 * * * *", "2026-09-21 14:07"),
        ("13 14 * * *", "2026-09-21 14:13"),
        ("15 6 1 * *", "2026-09-01 06:15"),
        ("0 6 L * *", "2026-08-31 06:00"),
        ("0 0 29 2 *", "2024-02-29 00:00"),
        ("0 6 * * mon-fri", "2026-09-21 06:00"),
        ("0 6 * * 2#1", "2026-09-01 06:00"),
        ("0 6 * * 1/2", "2026-09-21 06:00"),
        # over the end
        ("0 6 * * SAT-SUN", "2026-09-20 06:00"),
        ("0 6 * * 5-0", "2026-09-20 06:00"),
        ("0 22-2 * * *", "2026-09-21 02:00"),
        ("0 6 * 11-2 *", "2026-02-28 06:00"),
        # either day, unless one is a plain star
        ("0 6 1 * 1", "2026-09-21 06:00"),
        ("0 6 */10 * 2", "2026-09-21 06:00"),
        ("0 6 13 * */6", "2026-09-20 06:00"),
        ("0 6 *,3 * 0", "2026-09-20 06:00"),
        ("0 6 ? * 0", "2026-09-20 06:00"),
    ],
)
def test_a_schedule_means_what_it_always_meant(cron: str, last: str) -> None:
    moment = last_moment(cron, NOW)
    assert moment is not None
    assert f"{datetime.fromtimestamp(moment, UTC):%Y-%m-%d %H:%M}" == last
    assert last_moment(cron, moment) == moment, "a moment belongs to itself"
    before = last_moment(cron, moment - 0.5)
    assert before is not None and before < moment


@pytest.mark.parametrize("wrong", ["", "soon", "0 6 * *", "0 0 6 * * *", "99 * * * *", "0 6 * * 9", "0 6 31 2 *"])
def test_what_is_no_schedule_has_no_moment(wrong: str) -> None:
    assert last_moment(wrong, NOW) is None
