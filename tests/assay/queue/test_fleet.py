"""The simulation behind docs/scale.md, at a small size: nothing is lost, and what is narrow is what holds back."""

from __future__ import annotations

from dataclasses import replace

import pytest

pytest.importorskip("simpy", reason="simpy is not installed")

from bench.fleet import Fleet, simulate

SMALL = Fleet(runs_a_day=20_000, call_s=4.0, deaths_a_day=0)


def test_a_fleet_with_room_keeps_up_and_nobody_waits() -> None:
    out = simulate(SMALL, 600)
    assert out.lost == 0 and out.again == 0
    assert out.done > 0.8 * out.arrived and out.worst_s < 1


def test_workers_that_die_cost_the_calls_in_flight_and_no_run() -> None:
    out = simulate(replace(SMALL, deaths_a_day=2_000), 600)
    assert out.lost == 0 and 0 < out.again < out.arrived * SMALL.calls
    assert out.done > 0.4 * out.arrived


@pytest.mark.parametrize(
    ("change", "narrow"),
    [
        ({"calls_a_minute": 60.0}, "providers"),
        ({"places": 1, "machines": 1}, "places"),
        ({"cpu_s": 20.0}, "processors"),
        ({"database_tps": 2.0}, "database"),
    ],
)
def test_what_there_is_too_little_of_is_found(change: dict[str, float], narrow: str) -> None:
    out = simulate(replace(SMALL, **change), 600)
    assert out.narrow == narrow and out.lost == 0
    assert out.done < 0.8 * out.arrived, "it was not too little"


def test_what_providers_let_through_is_what_gets_done() -> None:
    out = simulate(replace(SMALL, calls_a_minute=60.0), 600)
    assert out.done * SMALL.calls <= 600 + 1
