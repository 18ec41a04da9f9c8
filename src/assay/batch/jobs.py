"""What a job is: one task in one configuration, once; its id is the digest of all that its result depends on."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from pydantic import BaseModel

from assay.batch.configurations import Configuration, completed
from assay.batch.inputs import InputRow, rows
from assay.batch.jobfile import JobFile
from assay.fields import FieldSpec, read, specs_of
from assay.hooks import hooks_of
from assay.registry import Prepared, prepared
from llm_runtime.canonical import canonical_json
from llm_runtime.errors import ConfigurationError, LlmRuntimeError, MissingExtraError
from llm_runtime.rewording import instead
from llm_runtime.structs import Struct


class Job(Struct):
    """One job.

    Args:
        job_id: SHA-256 in hex over kind of run, task, configuration and repetition. Columns of the input that no
            field uses do not enter, nor does the place in the file.
        row: 1-based place in the input.
        configuration: 0-based place in the grid.
        repetition: 0-based.
        task: canonical JSON of the task, complete; of a broken row, what stood there.
        fault: why the job cannot be run, or empty.
    """

    job_id: str
    row: int
    configuration: int
    repetition: int
    task: str
    fault: str = ""


def complete(job_file: JobFile, configurations: Sequence[Configuration]) -> list[Configuration]:
    """Complete configurations, which takes a task: the first row that can be run gives it.

    Raises:
        ConfigurationError: no row can be run, or a configuration is not possible.
        LlmRuntimeError: this machine lacks what they need.
    """
    refusal = ""
    for row in rows(job_file.input):
        task, fault = _task(job_file, row, configurations[0].options)
        if task is not None:
            return [completed(job_file, configuration, task) for configuration in configurations]
        refusal = refusal or _sentence(job_file, row, fault)
    raise ConfigurationError(refusal or f"the input {job_file.input.path} has no rows")


def jobs(job_file: JobFile, configurations: Sequence[Configuration]) -> Iterator[Job]:
    """Yield every job of a job file: rows in order, each with all configurations, each as often as asked.

    Args:
        configurations: complete.

    Raises:
        ConfigurationError: the input as a whole cannot be used.
    """
    for row in rows(job_file.input):
        task, fault = _task(job_file, row, configurations[0].options)
        data = None if task is None else task.model_dump(mode="json", exclude_defaults=True)
        text = row.raw if row.fault else _text(row.values if data is None else data)
        if text is None:
            data, text, fault = None, "", fault or "holds a value that JSON cannot"
        base = hashlib.sha256(_identity(job_file, row, data, text, fault))
        message = fault and _sentence(job_file, row, fault)
        for number, configuration in enumerate(configurations):
            for repetition in range(job_file.repetitions):
                whole = base.copy()
                whole.update(b"%b%d" % (configuration.digest, repetition))
                yield Job(whole.hexdigest(), row.number, number, repetition, text, message)


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
        """Return the digest in hex, once all have passed; those that have not do so now, unseen."""
        for _ in self:
            pass
        return self._digest.hexdigest()


def seed_of(job_id: str) -> int:
    """Return the seed of a job's run, 0 to 2^52-1: the same job draws the same nonces wherever it runs."""
    return int(job_id[:13], 16)


def _task(job_file: JobFile, row: InputRow, options: BaseModel) -> tuple[BaseModel | None, str]:
    """Return the task of a row, complete; or ``None`` and why it cannot be run."""
    if row.fault:
        return None, row.fault
    kind = job_file.kind
    try:
        model = hooks_of(kind).task
        specs = specs_of(model)
        values = {name: _cell(specs[name], row.values.get(column)) for name, column in job_file.input.columns.items()}
        return prepared(Prepared(kind, read(model, values), options)).task, ""
    except MissingExtraError:
        raise
    except LlmRuntimeError as refusal:
        return None, str(refusal)


def _identity(job_file: JobFile, row: InputRow, task: Mapping[str, Any] | None, text: str, fault: str) -> bytes:
    """Return what a job's id is drawn from, but for its configuration and repetition."""
    # Not the words of a fault: those of a later version may differ, and a batch goes on.
    kind, words = job_file.kind.name, "broken" if fault else ""
    if job_file.older:
        kind = job_file.protocol
        text, words = _first_words(job_file, row, task, fault)
    return f"{kind}\0{len(text)}\0{text}\0{words}".encode()


def _first_words(job_file: JobFile, row: InputRow, task: Mapping[str, Any] | None, refusal: str) -> tuple[str, str]:
    """Return a row's task and its fault as ids were drawn from them before version 0.2.

    Args:
        task: as it would be run; ``None`` where it cannot be.
        refusal: why it cannot be.
    """
    hooks, (first, wrong) = hooks_of(job_file.kind), _first_task(row, job_file.input.columns)
    fault = row.fault or wrong
    if not fault and not any(map(first.get, hooks.older)):
        names = ", ".join(hooks.older)
        fault = f"all of {names} are missing or empty" if "," in names else f"{names} is missing or empty"
    elif not fault and hooks.older_looked:
        first, fault = (first, refusal) if task is None else ({**task, **first}, "")
    text = row.raw if row.fault else _text(first)
    return ("", "holds a value that JSON cannot") if text is None else (text, fault)


def _first_task(row: InputRow, columns: Mapping[str, str]) -> tuple[Mapping[str, Any], str]:
    task = dict[str, Any]()
    for name, column in columns.items():
        value, wrong = _first_cell(name, row.values.get(column))
        if wrong:
            return {}, wrong
        task |= {} if value in (None, "") else {name: value}
    return task, ""


def _first_cell(name: str, value: Any) -> tuple[Any, str]:
    if name != "context":
        return value, "" if name in ("history", "turn") or isinstance(value, str | None) else f"{name} is not text"
    try:
        value = (json.loads(value) if value.strip() else None) if isinstance(value, str) else value
    except (ValueError, RecursionError):
        return None, "context is not JSON"
    return value, "" if isinstance(value, dict | None) else "context is not a JSON object"


def _cell(spec: FieldSpec, value: Any) -> Any:
    if not isinstance(value, str) or spec.kind not in ("json", "list"):
        return value
    with instead(ConfigurationError(f"{spec.name}: not JSON"), ValueError, RecursionError):
        return json.loads(value) if value.strip() else None


def _sentence(job_file: JobFile, row: InputRow, fault: str) -> str:
    return f"{job_file.input.path.name}: row {row.number}: {fault}"


def _text(values: Mapping[str, Any]) -> str | None:
    try:
        return canonical_json(values).decode()
    except (ValueError, TypeError):
        return None
