"""The job file: what is asked of what, in which configurations, how often, within which limits."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any, ClassVar, Literal, TypeAlias, cast

from pydantic import Field, JsonValue, field_validator, model_validator

from assay.fields import Ui
from assay.hooks import hooks_of
from assay.protocol import RunType
from assay.registry import find, run_types
from llm_runtime.models import Model
from llm_runtime.wrappers.accounts import Caps

InputFormat: TypeAlias = Literal["csv", "jsonl", "parquet", "folder"]


class Input(Model):
    """``[input]``: where the tasks are.

    Args:
        path: a file or a folder, relative to the job file.
        format: told by the ending where left out.
        columns: the column for each field of the task. Of a folder, each file is a row with the columns
            ``name`` and ``text``. A cell that is text is read as its field wants: lists and objects are JSON, what
            can only be yes or no says so.
    """

    path: Path
    format: InputFormat | None = None
    columns: dict[str, str] = Field(min_length=1)

    @field_validator("path")
    @classmethod
    def _nameable(cls, value: Path) -> Path:
        if "\0" in str(value):
            raise ValueError("path: no file's name has a null character")
        return value


class Work(Model):
    """``[work]``: how much at once, and how patiently. None of it changes a result.

    Args:
        workers: processes, 1 to 1,000; on Ray, actors.
        in_flight: jobs at once in each, 1 to 10,000.
        lease: seconds without a sign of life after which a worker's jobs are given to another.
        attempts: failures after which a job goes to the dead letters.
        retry_delay: seconds before a failed job is tried again.
        provider_batch: calls wait for the batches of vendors that have them, at half the price; a worker then has
            1,000 jobs at once where ``in_flight`` is left out.
        gather: seconds without another call after which such a batch is sent off, 0.01 to 3,600.
    """

    workers: int = Field(default=1, ge=1, le=1000)
    lease: float = Field(default=30.0, gt=0, le=86_400)
    attempts: int = Field(default=5, ge=1, le=100)
    retry_delay: float = Field(default=5.0, ge=0, le=86_400)
    provider_batch: bool = False
    gather: float = Field(default=10.0, ge=0.01, le=3600)
    # Behind what its default depends on.
    in_flight: int = Field(default_factory=lambda given: 1_000 if given["provider_batch"] else 16, ge=1, le=10_000)


class BudgetTable(Model):
    """``[budget]``: what the whole batch may spend; left out is no cap.

    Args:
        usd: dollars, kept as integer micro-dollars.
        calls: attempts sent.
        tokens: input and output together.
    """

    ui: ClassVar[dict[str, Ui]] = {
        "usd": Ui(label="Budget of the whole batch, USD", kind="number"),
        "calls": Ui(label="Calls of the whole batch"),
        "tokens": Ui(label="Tokens of the whole batch"),
    }

    usd: Decimal | None = Field(default=None, ge=0, le=1_000_000, decimal_places=6)
    calls: int | None = Field(default=None, ge=0, lt=2**53)
    tokens: int | None = Field(default=None, ge=0, lt=2**53)

    @property
    def caps(self) -> Caps:
        """The same in the runtime's terms."""
        return Caps(None if self.usd is None else int(self.usd * 1_000_000), self.tokens, self.calls)


class JobFile(Model):
    """A job file as read.

    Args:
        id: the batch's id; drawn from its contents where left out.
        run: the kind of run that each job is: ``"crucible.council"``.
        protocol: the same in job files of before version 0.2: ``"crucible"``.
        title: one line for lists.
        tenant: whose batch it is: where several wait for one provider, tenants take turns. Those that name none
            are one.
        repetitions: of each task in each configuration.
        model: as ``terms.model``.
        max_tokens: as ``terms.max_tokens``.
        options: of the kind of run, by name.
        terms: the models and bounds of each single job, by their names in :class:`~assay.terms.Terms`.
        engine: the options as they were named before version 0.2.
        grid: options and ``terms.NAME``, each with the values to combine; also ``model``, ``max_tokens``, and
            names of ``engine`` (``debate.aspects`` for one in a table of its own).
        budget: of the whole batch.
    """

    id: str | None = Field(default=None, pattern=r"^[a-z0-9][a-z0-9_-]{0,47}$")
    run: str = ""
    protocol: str = ""
    title: str = Field(default="", max_length=200)
    tenant: str = Field(default="", max_length=100)
    repetitions: int = Field(default=1, ge=1, le=100_000)
    model: str | None = None
    max_tokens: int | None = Field(default=None, ge=1)
    options: dict[str, JsonValue] = {}
    terms: dict[str, JsonValue] = {}
    engine: dict[str, JsonValue] = {}
    grid: dict[str, list[JsonValue]] = {}
    input: Input
    work: Work = Work()
    budget: BudgetTable = BudgetTable()

    @field_validator("grid", mode="before")
    @classmethod
    def _named_by_path(cls, value: object) -> object:
        return dict(_flat(cast("dict[str, Any]", value))) if isinstance(value, dict) else value

    @model_validator(mode="after")
    def _of_one_kind(self) -> JobFile:
        if bool(self.run) == bool(self.protocol):
            raise ValueError(f'run: name one kind of run, as in run = "{next(iter(run_types()))}"')
        return self

    @property
    def kind(self) -> RunType:
        """The kind of run that each job is."""
        return find(self.run or self.protocol)

    @property
    def older(self) -> bool:
        """Whether a version before 0.2 could read it: then its jobs have the ids that they had there."""
        newer = self.options or self.terms or {name.partition(".")[0] for name in self.grid} & {"options", "terms"}
        return self.protocol in self.kind.aliases and bool(hooks_of(self.kind).older) and not newer

    def place(self, name: str) -> tuple[str, str]:
        """Return the table that a name in the grid belongs to, and its path there."""
        table, _, path = name.partition(".")
        if path and table in ("options", "terms"):
            return table, path
        if name in ("model", "max_tokens"):
            return "terms", name
        return "options" if not self.older and table in hooks_of(self.kind).options.model_fields else "engine", name


def _flat(table: dict[str, Any], path: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in table.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{path}{name}.")  # pyright: ignore[reportUnknownArgumentType]
        else:
            yield f"{path}{name}", value
