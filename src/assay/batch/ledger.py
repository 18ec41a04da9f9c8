"""The ledger of jobs: who has which job, what came of it, and what is still to do.

Every method is one or two statements and may run inside a transaction of the caller's. A job that is claimed names
its owner (:mod:`llm_runtime.store.ownership`) and has a fence, one higher with each claim: what its holder writes
later is refused once somebody else has the job.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict, fields
from itertools import islice
from typing import Any, Literal, TypeAlias

from assay.batch.database import SQL, NamedQueries
from assay.batch.jobs import Job
from llm_runtime.errors import ConfigurationError, RunNotFound
from llm_runtime.structs import Struct

BatchState: TypeAlias = Literal["loading", "open", "stopped", "cancelled"]
JobState: TypeAlias = Literal["waiting", "running", "done", "dead"]

_PAGE = 500
#: Over how many microseconds a rate is taken.
_RATE_US = 60_000_000
_LOAD = 1000
#: When a job is due that somebody has: never, as long as that one lives.
_NEVER_US = 2**62


class Batch(Struct):
    """A batch as the ledger knows it.

    Args:
        batch_id: its name.
        tag: six characters that no other batch has; part of the ids of its runs.
        title: one line for lists.
        protocol: the import package of the protocol.
        contents: digest over the ids of its jobs.
        configurations: the combinations of the grid, in order.
        work: the ``[work]`` table as data.
        state: ``"loading"`` until all jobs are in; ``"stopped"`` where a budget or a refusal ended the work.
        reason: why it stopped, or empty.
        created_at: microseconds since the Unix epoch.
        tenant: who takes turns with others at shared limits.
    """

    batch_id: str
    tag: str
    title: str
    protocol: str
    contents: str
    configurations: list[dict[str, Any]]
    work: dict[str, Any]
    state: BatchState
    reason: str = ""
    created_at: int = 0
    tenant: str = ""


class Claim(Struct):
    """A job in the hands of one worker.

    Args:
        batch_id: the batch.
        job_id: the job.
        fence: 1 or more; of all claims of a job the highest holds.
        fresh_from: answers of runs up to this fence are of no more use; those of later ones are.
        failures: how often it failed before.
        configuration: place in the grid.
        repetition: 0-based.
        task: as the protocol takes it.
        row: its place in the order of the input.
        opened: how often the batch had been opened when it was claimed.
    """

    batch_id: str
    job_id: str
    fence: int
    fresh_from: int
    failures: int
    configuration: int
    repetition: int
    task: dict[str, Any]
    row: int = 0
    opened: int = 0

    @property
    def order(self) -> tuple[int, int, int]:
        """Where it stands in the order of the input."""
        return self.row, self.configuration, self.repetition


class BatchStatus(Struct):
    """How a batch stands.

    Args:
        states: jobs by state.
        failed: dead letters by kind.
        rate: jobs that came to an end a second, over the last minute.
        next_us: microseconds until the next job may be taken; 0 for at once, or where none is left.
    """

    states: dict[str, int]
    failed: dict[str, int]
    rate: float
    next_us: int = 0

    @property
    def total(self) -> int:
        """All jobs."""
        return sum(self.states.values())

    @property
    def left(self) -> int:
        """Jobs that are not over."""
        return self.states.get("waiting", 0) + self.states.get("running", 0)


class Result(Struct):
    """One line of the results: a job, its task, and what came of it. ``cost`` is micro-dollars."""

    job_id: str
    row: int
    configuration: int
    repetition: int
    state: JobState
    task: str
    result: str | None
    error: str
    message: str
    failures: int
    run_id: str
    cost: int


_FIELDS = tuple(field.name for field in fields(Batch))
_BATCH = f"SELECT {', '.join(_FIELDS)} FROM batches"


class Ledger(NamedQueries):
    """Batches and jobs."""

    def create(self, batch: Batch) -> Batch:
        """Enter a batch, or find it again with its newest ``work`` and bounds; its jobs may be missing still.

        Raises:
            ConfigurationError: there is a batch by that id with other contents.
        """
        entered = {**asdict(batch), **_as_json(batch), "state": "loading", "reason": ""}
        del entered["created_at"]
        self._do("create", *entered.values(), columns=", ".join(entered), marks=", ".join("?" * len(entered)))
        stored = self.batch(batch.batch_id)
        if stored.contents != batch.contents:
            raise ConfigurationError(
                f"there is a batch {batch.batch_id} with other contents; give this one another id, or none: what "
                "both have in common is not paid for again"
            )
        # Jobs that have not begun are carried out as the others of their batch were: new numbers are not theirs.
        for new, old in zip(batch.configurations, stored.configurations, strict=False):
            new["behaviours"] = old.get("behaviours", {})
        self._do("renew", batch.tenant, *_as_json(batch).values(), batch.batch_id)
        return self.batch(batch.batch_id)

    def batch(self, batch_id: str) -> Batch:
        """Return a batch by its id. Raises :class:`~llm_runtime.errors.RunNotFound`."""
        if not (rows := self.database.execute(f"{_BATCH} WHERE batch_id = ?", (batch_id,))):
            raise RunNotFound(f"there is no batch {batch_id[:80]!r}", advice="list them with: assay batch status")
        return _batch(rows[0])

    def batches(self) -> list[Batch]:
        """Return all batches, newest first."""
        return [_batch(row) for row in self.database.execute(f"{_BATCH} ORDER BY created_at DESC")]

    def load(self, batch: Batch, jobs: Iterable[Job]) -> None:
        """Enter jobs, those that are there already aside, in constant memory. A broken job is a dead letter from
        the start."""
        rows = (_job_row(batch.batch_id, job) for job in jobs)
        while page := list(islice(rows, _LOAD)):
            with self.database.transaction():
                self.database.many(SQL["load"], page)

    def take_over(self, batch_id: str) -> None:
        """Take over what other batches have done of this one's jobs."""
        self._do("take_over", batch_id)

    def discard(self, batch_id: str) -> None:
        """Forget a batch that never came further than ``"loading"``."""
        with self.database.transaction():
            if self._do("discard", batch_id):
                self.database.execute("DELETE FROM jobs WHERE batch_id = ?", (batch_id,))

    def set_state(self, batch_id: str, state: BatchState, reason: str = "") -> None:
        """Open, stop or cancel a batch; the workers notice with their next statement."""
        self._do("set_state", state, reason, int(state == "open"), batch_id)

    def stop(self, claim: Claim, reason: str) -> None:
        """Put a job back, and stop its batch unless that was opened anew since: its budget may have grown."""
        self._do("stop", reason, claim.batch_id, claim.opened)
        self._end(claim, "put_off")

    def state(self, batch_id: str) -> tuple[BatchState, int | None]:
        """Return the state of a batch, and microseconds until its next job may be due; ``None``: all are over."""
        state, wait = self._do("state", batch_id, batch_id)[0]
        return state, None if wait is None else max(0, int(wait))

    def claim(self, batch_id: str, owner: str, count: int) -> list[Claim]:
        """Take up to ``count`` jobs that are due, in order of the input."""
        values = (batch_id, batch_id, count, _NEVER_US, owner, batch_id, batch_id)
        claimed = self._do("claim", *values, skip_locked=self.database.skip_locked)
        claims = [
            Claim(batch_id, *key, task=json.loads(task), row=row, opened=opened) for *key, task, row, opened in claimed
        ]
        return sorted(claims, key=lambda claim: claim.order)

    def rescue(self, batch_id: str, attempts: int) -> None:
        """Put back the jobs of owners that are gone. That is a failure, and ``attempts`` of them are the end: an
        input that kills whoever takes it must end somewhere."""
        self._do("rescue", attempts, attempts, batch_id, _NEVER_US)

    def begun(self, batch_id: str, configuration: int) -> list[tuple[str, int]]:
        """Return some jobs of a configuration that were claimed, each with its fence; those that are done first."""
        return self._do("begun", batch_id, configuration)

    def running(self, batch_id: str) -> int:
        """Return how many jobs are under way, whoever has them."""
        return int(self._do("running", batch_id)[0][0])

    def line_up(self, batch_id: str) -> None:
        """Let what is due go in the order of the input, whatever it waited for: a job that was begun comes before
        those that were not."""
        self._do("line_up", batch_id)

    def held(self, batch_id: str, owner: str) -> tuple[BatchState, set[tuple[str, int]]]:
        """Return the state of a batch, and the jobs that ``owner`` has, each with its fence."""
        held = self._do("held", batch_id, _NEVER_US, owner)
        return self.state(batch_id)[0], {(job_id, int(fence)) for job_id, fence in held}

    def finish(self, claim: Claim, result: str, run_id: str, cost: int) -> bool:
        """Enter a result; return false where the job has gone to somebody else, whose result will count."""
        return self._end(claim, "finish", result, run_id, cost)

    def fail(self, claim: Claim, error: str, message: str, attempts: int, retry_us: int, *, fresh: bool) -> bool:
        """Enter a failure: the job waits for its next attempt, or is dead after ``attempts`` of them.

        Args:
            claim: the job.
            error: the kind, as the name of an exception.
            message: one line.
            attempts: failures after which it is dead.
            retry_us: microseconds until the next attempt.
            fresh: whether the answers so far are of no use to it.
        """
        return self._end(claim, "fail", attempts, attempts, retry_us, error, message, int(fresh))

    def postpone(self, claim: Claim, error: str, message: str, retry_us: int) -> bool:
        """Let a job wait that could not be done for a reason which is not its own: that is no failure."""
        return self._end(claim, "postpone", retry_us, error, message)

    def _end(self, claim: Claim, how: str, *values: Any) -> bool:
        return bool(self._do("end", *values, claim.batch_id, claim.job_id, claim.fence, change=SQL[how]))

    def put_back(self, batch_id: str, owner: str, jobs: Iterable[tuple[str, int]] | None = None) -> None:
        """Put back what ``owner`` holds, all of it or some, each as a job and its fence; that is no failure."""
        for job in self.held(batch_id, owner)[1] if jobs is None else jobs:
            self._do("put_back", batch_id, owner, *job)

    def retry_failed(self, batch_id: str) -> int:
        """Take the dead letters up again, broken input aside; return how many they are."""
        return len(self._do("retry_failed", batch_id))

    def status(self, batch_id: str) -> BatchStatus:
        """Return how the batch stands now."""
        states: dict[str, int] = {}
        failed: dict[str, int] = {}
        ended, span = 0, _RATE_US // 60
        for state, error, count, recent, age in self._do("status", _RATE_US, batch_id):
            states[state] = states.get(state, 0) + int(count)
            if error:
                failed[error] = int(count)
            ended, span = ended + int(recent), max(span, int(age or 0))
        due = self.state(batch_id)[1] or 0
        next_us = due if due < _NEVER_US // 2 else 0
        return BatchStatus(states, dict(sorted(failed.items())), ended * 1_000_000 / span, next_us)

    def results(self, batch_id: str) -> Iterator[Result]:
        """Yield every job in order of input, configuration and repetition, in constant memory."""
        last = (-1, -1, -1)
        while True:
            page = self._do("results", batch_id, *last, _PAGE)
            for row in page:
                yield Result(*row)
            if len(page) < _PAGE:
                return
            last = page[-1][1:4]


def _job_row(batch_id: str, job: Job) -> tuple[Any, ...]:
    known = (batch_id, job.job_id, job.row, job.configuration, job.repetition, job.task)
    return (*known, *(("dead", None, "BrokenInput", job.fault) if job.fault else ("waiting", 0, "", "")))


def _as_json(batch: Batch) -> dict[str, str]:
    return {"configurations": json.dumps(batch.configurations), "work": json.dumps(batch.work)}


def _batch(row: tuple[Any, ...]) -> Batch:
    columns = dict(zip(_FIELDS, row, strict=True))
    return Batch(**{**columns, **{name: json.loads(columns[name]) for name in ("configurations", "work")}})
