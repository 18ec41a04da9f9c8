"""Weighs each test in seconds of a processor, its own and its processes', and fails one that weighs too much.

Not in seconds of the clock: a test weighs about the same on a busy machine. A fixture that several tests share
weighs on its own, whoever asks for it first.
"""

from __future__ import annotations

import resource
from collections import Counter
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest
from tests.commands import Commands
from tests.extent import FULL

#: Seconds of a processor that a test may take; its author aims at a tenth. They are those of a machine that does
#: the piece of work of `slowness` in PIECE seconds: a slower one is given more. A test that tests/slow.txt names runs
#: beside browsers and boxes, on a processor that it shares, and may take twice as many; and where no table is written,
#: any may take twice as many again: who runs the tests is not to be stopped because a processor had other guests.
BOUND, PIECE = 3.0, 0.02
#: Marks of tests that may take more, since `make test` leaves them out.
FREE = frozenset({"long", "postgres", "browser", "box", "ray", "toolchain"})
#: Marks of tests that try more in `make test-all` than in `make test`.
COUNTED = frozenset({"counted", "hypothesis"})


def spent() -> float:
    """Return the seconds that this process has taken, its children that have ended, and the copies of commands."""
    used = [resource.getrusage(whose) for whose in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used) + Commands.spent


def slowness() -> float:
    """Return how many times longer this machine takes, at this moment, than the one of the bound; 1 at least."""
    before = spent()
    sum(number * number for number in range(500_000))
    return max(1.0, (spent() - before) / PIECE)


class Meter:
    """Stands in every process that runs tests, and in the one that hears of them all."""

    def __init__(self, table: str | None, bound: float = BOUND) -> None:
        self._table = Path(table) if table else None
        self._bound = bound
        self._loading = self._shared = self._begun = 0.0
        self._costs: Counter[str] = Counter()

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef: pytest.FixtureDef[Any]) -> Generator[None, Any, Any]:
        before = spent()
        try:
            return (yield)
        finally:
            if fixturedef.scope != "function":
                self._shared += spent() - before

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_setup(self) -> Generator[None, None, None]:
        if not self._begun:
            self._loading = spent()
        self._begun, self._shared = spent(), 0.0
        return (yield)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Generator[None, None, None]:
        yield
        taken = spent() - self._begun - self._shared
        free = FREE | COUNTED if FULL else FREE
        most = self._bound * (2 if item.get_closest_marker("slow") else 1) * (1 if self._table else 2)
        if taken <= most or any(mark.name in free for mark in item.iter_markers()):
            return
        if taken > (bound := most * slowness()):
            pytest.fail(f"it takes {taken:.1f} s of a processor, and may take {bound:.1f} here: make it smaller")

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item: pytest.Item, call: pytest.CallInfo[None]) -> Generator[None, Any, Any]:
        report = yield
        if call.when == "call":
            name, shared, loading = item.nodeid, self._shared, self._loading
            report.weighed = {name: spent() - self._begun - shared, f"{name} (shared)": shared, "(loading)": loading}
            self._loading = 0.0
        return report

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        for what, seconds in getattr(report, "weighed", {}).items():
            self._costs[what] += seconds

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if self._table is None or hasattr(session.config, "workerinput"):
            return
        rows = [f"{seconds:8.2f} {name}" for name, seconds in self._costs.most_common() if seconds >= 0.005]
        self._table.parent.mkdir(parents=True, exist_ok=True)
        self._table.write_text("\n".join([f"{self._costs.total():8.2f} all of them", *rows, ""]), "utf-8")
