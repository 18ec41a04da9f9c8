"""What a study judges and measures, how it can be set, and how one is held.

Its folder stays the truth: whichever run goes on with it asks nothing twice, and counts what was paid before.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field, field_validator

from assay.fields import Ui
from assay.hooks import Data, Hooks
from assay.protocol import RunContext
from assay.protocols.fire_circle import task as circle
from assay.protocols.fire_circle.report.study_files import write_study_report
from assay.report.standing import RunVerdict
from assay.terms import Terms
from fire_circle import FireCircleConfig
from fire_circle.rows import Columns
from fire_circle.studies.bound import planned_power
from fire_circle.studies.events import PowerTold
from fire_circle.studies.folder import StudyFolder, title_of_data
from fire_circle.studies.items import Source, count_items
from fire_circle.studies.measuring import Measuring
from fire_circle.studies.passes import MEASURES, Passes
from llm_runtime.errors import BudgetExceeded, ConfigurationError, DeadlineExceeded
from llm_runtime.models import Model
from llm_runtime.names import FilePath, Folder
from llm_runtime.wrappers.accounts import Spend


class DataColumns(Columns):
    """Which column of the data holds what."""

    ui: ClassVar[Mapping[str, Ui]] = circle.FIELDS["columns"]


class Task(Model):
    """A data set, and the folder that its study goes into."""

    ui: ClassVar[Mapping[str, Ui]] = circle.FIELDS["data"]

    data: FilePath = Field(min_length=1)
    """A CSV, JSON or JSONL file, or one of our own sets: @pairs, @histories, @overdefence."""
    columns: DataColumns = DataColumns()
    category: str | None = None
    """The column of families of harmless prompts, for over-defence."""
    limit: int | None = Field(default=None, ge=1)
    """Judge at most this many rows, spread evenly over the data."""
    out: Annotated[Folder, Ui(hidden=True)] = ""
    """The folder; empty takes ``study-NAME``."""

    @property
    def source(self) -> Source:
        """The rows."""
        return Source(self.data, self.columns, self.category, self.limit)

    @property
    def folder(self) -> StudyFolder:
        """Where the study is."""
        return StudyFolder(Path(self.out or f"study-{Path(self.data.lstrip('@')).stem}").absolute())


class Options(circle.Options):
    """How a study's circle judges, and what is measured of it."""

    ui: ClassVar[Mapping[str, Ui]] = {**circle.Options.ui, **circle.FIELDS["study"]}

    mode: Literal["single", "parallel", "fire_circle"] = "fire_circle"
    """A study is of a circle."""
    measures: tuple[str, ...] = (*("lift", "calibration", "groupthink"),)
    """Of lift, control, ablation, calibration, overdefence, pairs, groupthink, hijack; or all."""
    max_fpr: float = Field(default=0.05, ge=0, le=1)
    """False-positive rate to compare at."""
    calibrate_to: float = Field(default=0.01, ge=0, le=1)
    """False-positive rate to fit to."""
    threshold: float | None = Field(default=None, ge=0, le=1)
    """Count alarms from this F, in place of a fitted one."""
    concurrency: int = Field(default=4, ge=1, le=256)
    """Items at a time."""
    retry_failed: Annotated[bool, Ui(hidden=True)] = False
    """Ask again, and pay again, for items that had no verdict."""

    @field_validator("measures")
    @classmethod
    def _known(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        if names == ("all",):
            return MEASURES
        if not names or set(names) - set(MEASURES):
            raise ValueError(f"choose of {', '.join(MEASURES)}, or all")
        return tuple(name for name in MEASURES if name in names)

    def study_circle(self, terms: Terms | None = None) -> FireCircleConfig:
        """Return the circle.

        Raises:
            ConfigurationError: there is none, or a setting is out of range.
        """
        config = self.circle(terms)
        if config is None:
            raise ConfigurationError(f"mode: a study is of a circle, not of mode {self.mode}; leave it out")
        return config


class StudyHooks(Hooks[Task, Options]):
    """What a study does."""

    told = "assay.protocols.fire_circle.report.study_fold:StudyFold"
    several = True
    seatless = True
    replayable = False

    async def run(self, task: Task, options: Options, context: RunContext) -> Data:
        """Hold the circles that have no result yet, and measure; the result is ``Figures`` as data.

        Raises:
            ConfigurationError: the folder holds another study.
            BudgetExceeded, DeadlineExceeded: raised after what there is has been measured.
            LlmRuntimeError: whatever else ends a study.
        """
        folder, config = task.folder, options.study_circle(context.terms)
        manifest = await asyncio.to_thread(folder.open, task.source, config, context.terms.routes, context.seed)
        measures = frozenset(options.measures)
        if power := await asyncio.to_thread(planned_power, folder, manifest, measures):
            context.emit(PowerTold(summary=power.summary))

        def measure() -> dict[str, Any]:
            aims = options.max_fpr, options.calibrate_to, options.threshold
            figures = Measuring(folder, manifest, measures, *aims).figures()
            write_study_report(folder.path, figures)
            return figures.model_dump(mode="json")

        attempt = context.run_id if options.retry_failed else ""
        passes = Passes(folder, manifest, measures, context.emit, options.concurrency, attempt)
        try:
            await passes.run(context.generate)
        except (BudgetExceeded, DeadlineExceeded):
            await asyncio.to_thread(measure)
            raise
        return await asyncio.to_thread(measure)

    def prepare(self, task: Task, options: Options) -> tuple[Task, Options]:
        """Read and check every row, and name data, folder and models in full.

        Raises:
            ConfigurationError: the data, the circle or the folder cannot be used; nothing was written.
        """
        circle.check_guard(options)
        config, built_in = options.study_circle(), task.data.startswith("@")
        if built_in and (task.columns != DataColumns() or task.category):
            raise ConfigurationError(f"{task.data} has its own columns; leave the flags for columns out")
        task.folder.check(count_items(task.source.rows(config.base_config.max_layer_chars)))
        data = task.data if built_in else str(Path(task.data).absolute())
        complete = task.model_copy(update={"data": data, "out": str(task.folder.path)})
        return complete, options.model_copy(update={"models": config.models})

    def title_of(self, task: Task) -> str:
        """Return the question that a study answers."""
        return title_of_data(task.data)

    def spent(self, task: Task) -> Spend:
        """Return what the answers in the folder took, whichever runs asked for them."""
        return task.folder.spent()

    def units(self, task: Task) -> int:
        """Return how many rows there are to judge."""
        return sum(1 for _ in task.source.rows(FireCircleConfig().base_config.max_layer_chars))

    def panel(self, options: Options) -> tuple[str, ...]:
        """Return the models that the user put into seats."""
        return options.named_models

    def outcome(self, result: Mapping[str, Any]) -> RunVerdict:
        """Return what it shows."""
        from assay.protocols.fire_circle.report.study_story import outcome

        return outcome(result)
