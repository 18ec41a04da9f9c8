"""How a batch comes along: counts, rate, time left and money, as data and as one line."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from assay.batch.at_vendors import still_there
from assay.batch.buckets import FAULTS, Buckets, Closed
from assay.batch.ledger import Batch, BatchStatus, Ledger
from assay.batch.purses import Purses
from assay.report.units import duration
from llm_runtime.structs import Struct
from llm_runtime.wrappers.accounts import Account, amount


class BatchProgress(Struct):
    """A batch at one moment.

    Args:
        batch: which one.
        status: its jobs.
        purse: its money.
        seconds_left: at the rate of the last minute; ``None`` where nothing is left or known.
        closed: providers that let nobody through for now.
        busy: limits at which calls wait, each in a phrase.
        at_vendors: batches that vendors have, each in a phrase.
    """

    batch: Batch
    status: BatchStatus
    purse: Account
    seconds_left: float | None
    closed: tuple[Closed, ...] = ()
    busy: tuple[str, ...] = ()
    at_vendors: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return JSON-compatible data; money in micro-dollars."""
        states = self.status.states
        return {
            "batch": self.batch.batch_id,
            "title": self.batch.title,
            "protocol": self.batch.protocol,
            "state": self.state,
            "reason": self.batch.reason,
            "jobs": self.status.total,
            "done": states.get("done", 0),
            "running": states.get("running", 0),
            "waiting": states.get("waiting", 0),
            "failed": self.status.failed,
            "rate": round(self.status.rate, 3),
            "seconds_left": None if self.seconds_left is None else round(self.seconds_left),
            "waits_for": self.waits(),
            "spent": self.purse.spent.cost,
            **_flat("reserved", self.purse.held),
            **_flat("unknown", self.purse.unknown),
            "calls": self.purse.spent.calls,
            "tokens": self.purse.spent.tokens,
            **_flat("budget", self.purse.caps.amounts),
            "each_job": self.each_job(),
        }

    @property
    def state(self) -> str:
        """``"finished"`` where all jobs are over; of an open batch ``"running"``, or ``"idle"`` where nobody works
        on it; else ``"loading"``, ``"stopped"`` or ``"cancelled"``."""
        if self.status.left == 0 and self.batch.state in ("open", "stopped"):
            return "finished"
        if self.batch.state == "open":
            return "running" if self.status.states.get("running") else "idle"
        return self.batch.state

    def waits(self) -> list[str]:
        """Return what the batch waits for, each in one phrase; nothing where its jobs are over or under way."""
        if self.status.left == 0:
            return []
        waits = [*map(_word, self.closed), *self.at_vendors]
        if self.status.states.get("running"):
            return [*waits, *self.busy, *_room(self.purse)]
        if self.status.next_us:
            waits.append(f"the next job, due in {duration(self.status.next_us // 1000)}")
        return waits

    def each_job(self) -> dict[str, list[float]]:
        """Return the bounds of single jobs by name, each with the values that some configuration has."""
        terms = [configuration.get("terms", {}) for configuration in self.batch.configurations]
        bounds = {name: {each[name] for each in terms if name in each} for name in _OF_A_JOB}
        return {name: sorted(values) for name, values in bounds.items() if values}

    def line(self) -> str:
        """Return one line for a terminal."""
        states = self.status.states
        dead = sum(self.status.failed.values())
        parts = [f"{states.get('done', 0)} of {self.status.total} done", f"{states.get('running', 0)} running"]
        if dead:
            kinds = ", ".join(f"{count} {kind}" for kind, count in self.status.failed.items())
            parts.append(f"{dead} failed ({kinds})")
        if self.status.rate and states.get("running"):
            parts.append(f"{self.status.rate:.2f}/s")
        if self.seconds_left:
            parts.append(f"{duration(round(self.seconds_left * 1000))} left")
        parts.append(amounts(self.purse))
        if bounds := self.each_job():
            each = (_OF_A_JOB[name].format(" or ".join(f"{v:,g}" for v in values)) for name, values in bounds.items())
            parts.append(f"each job at most {', '.join(each)}")
        parts += [f"waits for {each}" for each in self.waits()]
        return " · ".join(parts)


#: Bounds of a single job in the words of a line.
_OF_A_JOB = {"budget": "${}", "max_calls": "{} calls", "deadline": "{} s"}


def _flat(name: str, amounts: Sequence[int | None]) -> dict[str, int | None]:
    cost, tokens, calls = amounts
    return {name: cost, f"{name}_calls": calls, f"{name}_tokens": tokens}


def _room(purse: Account) -> list[str]:
    """Return that calls wait for what others hold, where what is left has no room for one as they are."""
    for name, left in purse.left.items():
        if left * purse.held.calls < getattr(purse.held, name):
            return [f"room in the budget: only {amount(max(0, left), name)} are left beside what is reserved"]
    return []


def _word(closed: Closed) -> str:
    broken = f"which is out of order ({closed.faults} faults in a row)"
    why = broken if closed.faults >= FAULTS else "which refuses for now (429)"
    at = datetime.now().astimezone() + timedelta(microseconds=closed.wait_us)
    return f"{closed.bucket}, {why}, tried again in {duration(closed.wait_us // 1000)}: goes on at {at:%H:%M}"


def look(ledger: Ledger, purses: Purses, batch_id: str) -> BatchProgress:
    """Return a batch as it stands now. Raises :class:`~llm_runtime.errors.RunNotFound`."""
    batch, status = ledger.batch(batch_id), ledger.status(batch_id)
    left = status.left / status.rate if status.rate and status.states.get("running") else None
    buckets = Buckets(ledger.database)
    closed, busy, sent = tuple(buckets.closed()), tuple(buckets.busy()), still_there(ledger.database, batch_id)
    return BatchProgress(batch, status, purses.read(batch_id), left, closed, busy, sent)


def amounts(purse: Account) -> str:
    """Return what a purse has spent and holds in one line, every cap that it has beside it."""
    caps, spent, held, unknown = purse.caps, purse.spent, purse.held, purse.unknown
    of = "" if caps.cost is None else f" of ${caps.cost / 1e6:.2f}"
    perhaps = f", unknown up to ${unknown.cost / 1e6:.4f}" if unknown.cost else ""
    parts = [f"${spent.cost / 1e6:.4f} spent{perhaps}, ${held.cost / 1e6:.4f} reserved{of}"]
    for name in ("calls", "tokens"):
        cap, (taken, reserved, lost) = getattr(caps, name), (getattr(each, name) for each in (spent, held, unknown))
        if cap is not None or reserved:
            perhaps = f", unknown up to {lost:,}" if lost else ""
            of = "" if cap is None else f" of {cap:,}"
            parts.append(f"{taken:,} {name}{perhaps}, {reserved:,} reserved{of}")
    return " · ".join(parts)
