"""What a job is: one task in one configuration, once; its id is the digest of all that its result depends on."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from assay.batch.inputs import Row, rows
from assay.batch.jobfile import JobFile
from assay.batch.protocols import TaskShape, shape_of
from llm_runtime.canonical import canonical_json
from llm_runtime.errors import LlmRuntimeError


@dataclass(frozen=True, slots=True)
class Job:
    """One job.

    Args:
        job_id: SHA-256 in hex over protocol, task, configuration and repetition. Columns of the input that no
            field uses do not enter, nor does the place in the file.
        row: 1-based place in the input.
        configuration: 0-based place in the grid.
        repetition: 0-based.
        task: canonical JSON of the task as the protocol takes it; of a broken row, what stood there.
        fault: why the job cannot be run, or empty.
    """

    job_id: str
    row: int
    configuration: int
    repetition: int
    task: str
    fault: str = ""


def jobs(job_file: JobFile, configurations: list[dict[str, Any]]) -> Iterator[Job]:
    """Every job of a job file: rows in order, each with all configurations, each as often as asked.

    Raises:
        ConfigurationError: the input as a whole cannot be used.
    """
    shape = shape_of(job_file.protocol)
    digests = [hashlib.sha256(canonical_json(configuration)).digest() for configuration in configurations]
    for row in rows(job_file.input):
        task, fault = _task(row, job_file.input.columns)
        fault = fault or shape.fault(task) or ""
        if not fault:
            task, fault = _completed(shape, task)
        text = _text(task) if not row.fault else row.raw
        if text is None:
            text, fault = "", "holds a value that JSON cannot"
        base = hashlib.sha256(f"{job_file.protocol}\0{len(text)}\0{text}\0{fault}".encode())
        for number, digest in enumerate(digests):
            for repetition in range(job_file.repetitions):
                whole = base.copy()
                whole.update(b"%b%d" % (digest, repetition))
                yield Job(whole.hexdigest(), row.number, number, repetition, text, fault)


class Contents:
    """Jobs as they pass by, and what they come to: their number, and SHA-256 over their ids in order."""

    def __init__(self, all_jobs: Iterable[Job]) -> None:
        self.count = 0
        self._jobs = iter(all_jobs)
        self._digest = hashlib.sha256()

    def __iter__(self) -> Iterator[Job]:
        for job in self._jobs:
            self._digest.update(bytes.fromhex(job.job_id))
            self.count += 1
            yield job

    def digest(self) -> str:
        """The digest in hex, once all have passed; those that have not do so now, unseen."""
        for _ in self:
            pass
        return self._digest.hexdigest()


def seed_of(job_id: str) -> int:
    """The seed of a job's run, 0 to 2^52-1: the same job draws the same nonces wherever it runs."""
    return int(job_id[:13], 16)


def _task(row: Row, columns: dict[str, str]) -> tuple[dict[str, Any], str]:
    task: dict[str, Any] = {}
    for name, column in columns.items():
        value = row.values.get(column)
        if name == "context" and isinstance(value, str):
            # A cell of a table holds text; a context is an object.
            try:
                value = json.loads(value) if value.strip() else None
            except (ValueError, RecursionError):
                return {}, "context is not JSON"
        if name == "context" and not isinstance(value, dict | None):
            return {}, "context is not a JSON object"
        if name not in ("context", "history", "turn") and not isinstance(value, str | None):
            return {}, f"{name} is not text"
        if value not in (None, ""):
            task[name] = value
    return task, row.fault


def _completed(shape: TaskShape, task: dict[str, Any]) -> tuple[dict[str, Any], str]:
    try:
        return shape.complete(task), ""
    except LlmRuntimeError as error:
        return task, str(error)


def _text(task: dict[str, Any]) -> str | None:
    try:
        return canonical_json(task).decode()
    except (ValueError, TypeError):
        return None
