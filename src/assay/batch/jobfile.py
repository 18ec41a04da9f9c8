"""The job file: what is asked of what, in which configurations, how often, within which limits."""

from __future__ import annotations

import itertools
import tomllib
from collections.abc import Iterator
from copy import deepcopy
from decimal import Decimal
from pathlib import Path
from typing import Any, Literal, TypeAlias, cast

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from assay.batch.protocols import shape_of
from llm_runtime.errors import ConfigurationError, LlmRuntimeError
from llm_runtime.wrappers.budgeted import Caps

#: Combinations that a grid may have; more is taken for a slip.
MOST_CONFIGURATIONS = 10_000

InputFormat: TypeAlias = Literal["csv", "jsonl", "parquet", "folder"]
Value: TypeAlias = str | int | float | bool | list[str]
"""One value that a grid tries."""


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Input(_Strict):
    """``[input]``: where the tasks are.

    Args:
        path: a file or a folder, relative to the job file.
        format: told by the ending where left out.
        columns: the column for each field of the task. Of a folder, each file is a row with the columns
            ``name`` and ``text``.
    """

    path: Path
    format: InputFormat | None = None
    columns: dict[str, str] = Field(min_length=1)


class Work(_Strict):
    """``[work]``: how much at once, and how patiently. None of it changes a result.

    Args:
        workers: processes, 1 to 1,000; on Ray, actors.
        in_flight: jobs at once in each, 1 to 10,000.
        lease: seconds after which a silent worker's jobs are given to another.
        attempts: failures after which a job goes to the dead letters.
        retry_delay: seconds before a failed job is tried again.
    """

    workers: int = Field(default=1, ge=1, le=1000)
    in_flight: int = Field(default=16, ge=1, le=10_000)
    lease: float = Field(default=60.0, gt=0, le=86_400)
    attempts: int = Field(default=5, ge=1, le=100)
    retry_delay: float = Field(default=5.0, ge=0, le=86_400)


class BudgetTable(_Strict):
    """``[budget]``: what the whole batch may spend; left out is no cap.

    Args:
        usd: dollars, kept as integer micro-dollars.
        calls: attempts sent.
        tokens: input and output together.
    """

    usd: Decimal | None = Field(default=None, ge=0, le=1_000_000, decimal_places=6)
    calls: int | None = Field(default=None, ge=0, lt=2**53)
    tokens: int | None = Field(default=None, ge=0, lt=2**53)

    @property
    def caps(self) -> Caps:
        """The same in the runtime's terms."""
        return Caps(None if self.usd is None else int(self.usd * 1_000_000), self.tokens, self.calls)


class JobFile(_Strict):
    """A job file as read.

    Args:
        id: the batch's id; drawn from its contents where left out.
        protocol: the import package of the protocol.
        title: one line for lists.
        tenant: whose batch it is: where several wait for one provider, tenants take turns. Those that name none
            are one.
        repetitions: of each task in each configuration.
        model: for every call, as ``PROVIDER:MODEL``; the user's own where left out.
        max_tokens: upper bound of each answer, in tokens.
        engine: the protocol's options.
        grid: ``model``, ``max_tokens`` or options of the engine (``debate.aspects`` for one in a table of its own),
            each with the values to combine.
    """

    id: str | None = Field(default=None, pattern=r"^[a-z0-9][a-z0-9_-]{0,47}$")
    protocol: str
    title: str = Field(default="", max_length=200)
    tenant: str = Field(default="", max_length=100)
    repetitions: int = Field(default=1, ge=1, le=100_000)
    model: str | None = None
    max_tokens: int | None = Field(default=None, ge=1)
    engine: dict[str, Any] = {}
    grid: dict[str, list[Value]] = {}
    input: Input
    work: Work = Work()
    budget: BudgetTable = BudgetTable()

    @field_validator("grid", mode="before")
    @classmethod
    def _named_by_path(cls, value: object) -> object:
        return dict(_flat(cast("dict[str, Any]", value))) if isinstance(value, dict) else value

    def configurations(self, model: str | None = None, max_tokens: int | None = None) -> Iterator[dict[str, Any]]:
        """Every combination of the grid as ``{"engine", "model", "max_tokens"}``, in the order of the file.

        Args:
            model: the user's own model, for whatever names none.
            max_tokens: the user's own bound, likewise.
        """
        for chosen in itertools.product(*self.grid.values()):
            configuration: dict[str, Any] = {
                "engine": deepcopy(self.engine),
                "model": self.model or model,
                "max_tokens": self.max_tokens or max_tokens,
            }
            for name, value in zip(self.grid, chosen, strict=True):
                target = configuration if name in ("model", "max_tokens") else configuration["engine"]
                *tables, last = name.split(".")
                for table in tables:
                    target = target.setdefault(table, {})
                target[last] = value
            yield configuration


def load_job_file(path: Path) -> JobFile:
    """Read and check a job file; nothing of its input is read yet.

    Raises:
        ConfigurationError: it cannot be read, holds something unknown, or asks for what is not possible; says
            which and where.
    """
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"), parse_float=Decimal)
    except OSError as fault:
        raise ConfigurationError(f"{path} cannot be read: {fault.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as fault:
        raise ConfigurationError(f"{path} is not readable TOML: {fault}") from None
    try:
        job_file = JobFile.model_validate(_plain(data, keep=("budget",)))
    except ValidationError as fault:
        first = fault.errors()[0]
        where = ".".join(map(str, first["loc"]))
        raise ConfigurationError(f"{path}: {where}: {first['msg']}") from None
    _check(job_file, path)
    place = job_file.input.model_copy(update={"path": path.parent / job_file.input.path})
    return job_file.model_copy(update={"input": place})


def _check(job_file: JobFile, path: Path) -> None:
    shape = shape_of(job_file.protocol)
    fields, mapped = shape.required | shape.optional, set(job_file.input.columns)
    if unknown := sorted(mapped - fields):
        raise ConfigurationError(
            f"{path}: input.columns: a task of {job_file.protocol} has no field {unknown[0]}; "
            f"it has: {', '.join(sorted(fields))}"
        )
    if missing := sorted(shape.required - mapped):
        raise ConfigurationError(f"{path}: input.columns: {missing[0]} needs a column")
    if shape.any_of and not shape.any_of & mapped:
        raise ConfigurationError(f"{path}: input.columns: one of {', '.join(sorted(shape.any_of))} needs a column")
    empty = [name for name, values in job_file.grid.items() if not values]
    if empty:
        raise ConfigurationError(f"{path}: grid.{empty[0]}: there is no value to try")
    count = 1
    for values in job_file.grid.values():
        count *= len(values)
    if count > MOST_CONFIGURATIONS:
        raise ConfigurationError(f"{path}: grid: {count} combinations; the most is {MOST_CONFIGURATIONS}")
    for configuration in job_file.configurations():
        if not isinstance(configuration["max_tokens"], int | None) or not isinstance(
            configuration["model"], str | None
        ):
            raise ConfigurationError(f"{path}: grid: model takes texts, max_tokens whole numbers")
        try:
            shape.check(configuration["engine"])
        except (LlmRuntimeError, TypeError, ValueError) as fault:
            raise ConfigurationError(f"{path}: engine: {' '.join(str(fault).split())[:300]}") from None


def _flat(table: dict[str, Any], path: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in table.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{path}{name}.")  # pyright: ignore[reportUnknownArgumentType]
        else:
            yield f"{path}{name}", value


def _plain(value: Any, keep: tuple[str, ...] = ()) -> Any:
    """Decimals as floats, but for the tables in ``keep``: money is never a float."""
    if isinstance(value, Decimal):
        return float(value)
    if isinstance(value, dict):
        return {key: inner if key in keep else _plain(inner) for key, inner in value.items()}  # pyright: ignore[reportUnknownVariableType]
    if isinstance(value, list):
        return [_plain(inner) for inner in value]  # pyright: ignore[reportUnknownVariableType]
    return value
