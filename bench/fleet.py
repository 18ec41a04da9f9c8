"""A simulation of workers, one queue and providers with limits: what 10^6 runs a day take, and what breaks first.

It has what the service has: workers with places, a database that does so many transactions a second, leases that
end when a worker dies, and providers that let so many calls a minute through. What a run takes of the
processor is measured, its times are those of usual runs (``docs/scale.md``). ``python -m bench.fleet`` prints a
table.
"""

from __future__ import annotations

import random
from collections.abc import Generator
from dataclasses import dataclass, field, replace
from typing import Any

import simpy

_DAY_S = 86_400.0


@dataclass(frozen=True, slots=True)
class Fleet:
    """What is there, and what comes.

    Args:
        runs_a_day: that arrive, evenly.
        machines: each with so many cores.
        cores: of each machine, one worker a core.
        places: runs at once in each worker.
        calls: of a run, one after another in so many steps.
        steps: of a run; the calls of a step are made at once.
        call_s: seconds that a model takes.
        cpu_s: of the worker, for a run.
        transactions: of the database, for a run.
        database_tps: transactions a second that the database does.
        calls_a_minute: that all providers together let through; 0 is no limit.
        deaths_a_day: of each worker.
        silent_s: seconds after which a dead worker's runs are put back.
    """

    runs_a_day: float
    machines: int = 1
    cores: int = 2
    places: int = 50
    calls: int = 10
    steps: int = 4
    call_s: float = 8.0
    cpu_s: float = 0.068
    transactions: float = 25.0
    database_tps: float = 2_000.0
    calls_a_minute: float = 0.0
    deaths_a_day: float = 1.0
    silent_s: float = 30.0

    @property
    def workers(self) -> int:
        """All of them."""
        return self.machines * self.cores


@dataclass(slots=True)
class Outcome:
    """What a simulated stretch came to.

    Args:
        arrived, done: runs.
        again: calls that were made a second time, because a worker died with them in flight.
        waited_s: of a run before it is taken, on average; ``worst_s`` the longest.
        shares: of what there is that were busy: places, processors, database, providers.
        lost: runs that were neither done nor waiting nor under way in the end: must be none.
    """

    arrived: int = 0
    done: int = 0
    again: int = 0
    waited_s: float = 0.0
    worst_s: float = 0.0
    shares: dict[str, float] = field(default_factory=dict[str, float])
    lost: int = 0

    @property
    def narrow(self) -> str:
        """What is busiest."""
        return max(self.shares, key=lambda name: self.shares[name])


class _Service:
    """One stretch of simulated time."""

    def __init__(self, fleet: Fleet, seed: int) -> None:
        self.fleet, self.random, self.outcome = fleet, random.Random(seed), Outcome()
        self.env = simpy.Environment()
        self.queue = simpy.Store(self.env)
        self.held: dict[int, set[int]] = {worker: set() for worker in range(fleet.workers)}
        self.cores = [simpy.Resource(self.env, 1) for _ in range(fleet.workers)]
        self.busy = {"places": 0.0, "processors": 0.0, "database": 0.0, "providers": 0.0}
        self.steps_left: dict[int, int] = {}
        self.next_turn = 0.0
        self.database_free = 0.0

    def run(self, seconds: float) -> Outcome:
        fleet, out = self.fleet, self.outcome
        self.env.process(self._arrivals())
        for worker in range(fleet.workers):
            for _ in range(fleet.places):
                self.env.process(self._place(worker))
            if fleet.deaths_a_day:
                self.env.process(self._deaths(worker))
        self.env.run(until=seconds)
        there = {"places": fleet.workers * fleet.places, "processors": fleet.workers}
        out.shares = {name: busy / (seconds * there.get(name, 1)) for name, busy in self.busy.items()}
        under_way = len(self.steps_left)
        out.waited_s /= max(1, out.done)
        out.lost = out.arrived - out.done - under_way
        return out

    def _arrivals(self) -> Generator[Any, Any, None]:
        between = _DAY_S / self.fleet.runs_a_day
        while True:
            yield self.env.timeout(self.random.expovariate(1 / between))
            number = self.outcome.arrived
            self.outcome.arrived += 1
            self.steps_left[number] = self.fleet.steps
            yield self.queue.put((number, self.env.now, True))

    def _place(self, worker: int) -> Generator[Any, Any, None]:
        while True:
            number, since, first = yield self.queue.get()
            if first:
                waited = self.env.now - since
                self.outcome.waited_s += waited
                self.outcome.worst_s = max(self.outcome.worst_s, waited)
            mine = self.held[worker]
            mine.add(number)
            while self.steps_left.get(number) and number in self.held[worker]:
                yield from self._step(worker)
                if number not in self.held[worker]:
                    break  # the worker died meanwhile: what it did in this step is done again by another
                self.steps_left[number] -= 1
            if number in self.held[worker]:
                mine.discard(number)
                if self.steps_left.pop(number, None) is not None:
                    self.outcome.done += 1

    def _step(self, worker: int) -> Generator[Any, Any, None]:
        fleet, begun = self.fleet, self.env.now
        with self.cores[worker].request() as core:
            yield core
            yield self.env.timeout(fleet.cpu_s / fleet.steps)
            self.busy["processors"] += fleet.cpu_s / fleet.steps
        took = fleet.transactions / fleet.steps / fleet.database_tps
        self.busy["database"] += took
        self.database_free = max(self.database_free, self.env.now) + took
        yield self.env.timeout(self.database_free - self.env.now)
        if fleet.calls_a_minute:
            took = 60 * fleet.calls / fleet.steps / fleet.calls_a_minute
            self.busy["providers"] += took
            self.next_turn = max(self.next_turn, self.env.now) + took
            yield self.env.timeout(self.next_turn - self.env.now)
        yield self.env.timeout(self.random.lognormvariate(0, 0.4) * fleet.call_s)
        self.busy["places"] += self.env.now - begun

    def _deaths(self, worker: int) -> Generator[Any, Any, None]:
        while True:
            yield self.env.timeout(self.random.expovariate(self.fleet.deaths_a_day / _DAY_S))
            orphans, self.held[worker] = sorted(self.held[worker]), set()
            self.outcome.again += len(orphans) * self.fleet.calls // self.fleet.steps
            self.env.process(self._rescue(orphans))

    def _rescue(self, orphans: list[int]) -> Generator[Any, Any, None]:
        yield self.env.timeout(self.fleet.silent_s)
        for number in orphans:
            if number in self.steps_left:
                yield self.queue.put((number, self.env.now, False))


def simulate(fleet: Fleet, seconds: float = 1_800.0, seed: int = 1) -> Outcome:
    """Let a fleet work for so many simulated seconds."""
    return _Service(fleet, seed).run(seconds)


#: What docs/scale.md shows: one machine, ten, and what 10^6 runs a day want.
SHOWN = {
    "1 machine, 10^4 a day": Fleet(1e4),
    "1 machine, 10^5 a day": Fleet(1e5),
    "1 machine, 10^6 a day": Fleet(1e6),
    "10 machines, 10^6 a day": Fleet(1e6, machines=10),
    "10 machines, 10^6 a day, 100,000 calls a minute": Fleet(1e6, machines=10, calls_a_minute=100_000),
    "10 machines, 10^6 a day, 5,000 calls a minute": Fleet(1e6, machines=10, calls_a_minute=5_000),
    "10 machines, 10^7 a day": Fleet(1e7, machines=10),
    "100 machines, 10^7 a day, a database of 10,000/s": Fleet(1e7, machines=100, database_tps=10_000),
}


def main() -> None:
    """Print the table."""
    print("| fleet | done of arrived | waited, s (worst) | places | processors | database | providers | busiest |")
    print("|---|---|---|---|---|---|---|---|")
    for name, fleet in SHOWN.items():
        seconds = min(1_800.0, 20_000 / fleet.runs_a_day * _DAY_S)
        out = simulate(replace(fleet, deaths_a_day=24.0 / max(1, fleet.machines)), seconds)
        waited, done = f"{out.waited_s:.1f} ({out.worst_s:.0f})", f"{out.done:,} of {out.arrived:,}"
        shares = " | ".join(f"{share:.0%}" for share in out.shares.values())
        print(f"| {name} | {done} | {waited} | {shares} | {out.narrow} |")


if __name__ == "__main__":
    main()
