"""A trial as a run, in a process of its own: Inspect is heavy, and wants an event loop to itself.

The trial goes by the run's id, so a run that is resumed goes on with the same trial and repeats no attempt. With
models to compare it has a process for each (:mod:`assay.protocols.ai_crucible.comparing`). Models are reached by
that process, not through the model function of the run: their answers are in Inspect's own log, from which the
run's events are made.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field, model_validator

from assay.fields import Ui, read_ui
from assay.hooks import Data, Hooks
from assay.protocol import Handout, RunContext
from assay.protocols.ai_crucible.child import check_end, make_trial
from assay.protocols.ai_crucible.events import AttemptEnded, AttemptTold, TrialBegan, TrialSealed
from assay.protocols.ai_crucible.trials import AgentName, PuzzleName, by_trial, check_models, need_box, workshop
from assay.report.standing import RunVerdict
from assay.terms import Terms
from llm_runtime.events import Event
from llm_runtime.models import Model
from llm_runtime.names import Folder, ModelName

_KINDS: dict[str, type[Event]] = {
    "began": TrialBegan,
    "ended": AttemptEnded,
    "attempt": AttemptTold,
    "sealed": TrialSealed,
}

FIELDS = read_ui(__package__ or "")


class Task(Model):
    """Which puzzles."""

    ui: ClassVar[Mapping[str, Ui]] = FIELDS["puzzles"]

    puzzles: tuple[PuzzleName, ...] = ()
    """Ids, folders, or all."""
    demo: Annotated[bool, Ui(hidden=True)] = False
    """The recorded solvers attempt theirs."""
    speed: Annotated[float, Ui(hidden=True)] = 1.0
    """How many times as fast the recorded solvers are; 0 does not wait."""


class Options(Model):
    """How often, and how."""

    ui: ClassVar[Mapping[str, Ui]] = FIELDS["trial"]

    k: int = Field(default=5, ge=1, le=1000)
    """Attempts each."""
    arm: Literal["neutral", "self_referential", "social_standings"] = "neutral"
    """The framing; the others need earlier trials to refer to."""
    protocol: Literal["native", "text"] = "native"
    """How the model calls tools; text is for models that have no calls of their own."""
    judges: tuple[ModelName, ...] = ()
    """A judge of claimed novelty (repeatable)."""
    untagged: bool = False
    """Seat judges whose family nobody knows, such as a person or a server of your own."""
    reducer: Literal["median", "majority"] = "median"
    """How the judges' scores become one."""
    critic: ModelName = ""
    """A model that comments on each finished attempt, in its trace alone."""
    cohort: tuple[ModelName, ...] = ()
    """A model that takes turns with the solver in each attempt (repeatable)."""
    against: tuple[ModelName, ...] = ()
    """A further model that makes the same attempts, to be compared (repeatable)."""
    agent: tuple[AgentName, ...] = ()
    """An agent that works in the box with the model: claude, codex, gemini, aider, openhands, or your own command line
    (repeatable: they are compared)."""
    early: bool = False
    """Stop as soon as every two of the models are decided, by a test that holds whenever one stops."""
    chrome: Annotated[dict[str, Any], Ui(hidden=True)] = {}
    """Rank and standings, kept beside every attempt; one into which they leak is halted."""
    box_root: Folder = ""
    """An unpacked or OCI image, of which boxes are made; host is all that this machine has, empty a part."""
    at_once: int = Field(default=4, ge=1, le=64)
    """Attempts at one time."""
    redraws: int = Field(default=2, ge=0, le=100)
    """How often an attempt that died is made again; the plan fixes it, and each death is told."""
    nonce: str = Field(default="", max_length=200)
    """Words of whoever asked for the trial; all that is drawn derives from them, and not from its id."""
    folder: Annotated[Folder, Ui(hidden=True)] = ""
    """Where logs and the ledger are kept; empty is the user's own place."""
    trial: Annotated[str, Ui(hidden=True)] = ""
    """An earlier trial that it goes on with; empty is one of its own, by the run's id."""

    @model_validator(mode="after")
    def _two(self) -> Options:
        if self.early and not self.compares:
            raise ValueError("only a comparison can be decided early: name a further model with --against")
        if self.agent and self.cohort:
            raise ValueError("an agent works with one model: leave --cohort out")
        return self

    @property
    def compares(self) -> bool:
        """Whether several make the same attempts."""
        return bool(self.against) or len(self.agent) > 1


class TrialHooks(Hooks[Task, Options]):
    """What a trial does."""

    told = "assay.protocols.ai_crucible.report.fold:TrialFold"
    replayable = False
    seatless = True
    own_models = True
    file = Handout("The bundle, for others to verify", "assay")

    async def run(self, task: Task, options: Options, context: RunContext) -> Data:
        """Make the trial; the result holds its figures.

        Raises:
            ConfigurationError: there is no such puzzle or model, no box on this machine, or no Inspect.
            BudgetExceeded: the money is used up before all attempts are made.
            TrialFailed: attempts have no verdict, or its process broke off.
        """
        order = {
            **task.model_dump(mode="json"),
            **options.model_dump(mode="json"),
            "model": context.terms.model,
            "max_cost": context.terms.budget,
            "trial": options.trial or context.run_id,
            "seed": None,
            "tell": False,
            "agent": next(iter(options.agent), ""),
        }
        if options.compares:
            from assay.protocols.ai_crucible.comparing import compare_models

            each = by_trial(str(order["trial"]), [context.terms.model, *options.against], options.agent)
            return await compare_models(order, each, context)

        def take(kind: str, body: Any) -> None:
            if kind in _KINDS:
                context.emit(_KINDS[kind].model_validate(body))

        figures = await make_trial(order, take)
        check_end(figures)
        return figures

    def prepare(self, task: Task, options: Options) -> tuple[Task, Options]:
        """Look the puzzles up.

        Raises:
            ConfigurationError: there is no such puzzle, or its boxes would not start.
        """
        from ai_crucible.catalog_paths import resolve_puzzles
        from ai_crucible.puzzle_loader import load_puzzles
        from ai_crucible.versions import oracle_digest

        if options.box_root:
            need_box(options.box_root)
        if not task.demo:
            for puzzle in load_puzzles(resolve_puzzles(list(task.puzzles))):
                oracle_digest(puzzle)
        return task, options

    def ready(self, task: Task, options: Options, terms: Terms) -> None:
        """Refuse a model that cannot be named so.

        Raises:
            NoModelError: none was named and none is configured.
            ConfigurationError: a name cannot be one, or stands there twice.
        """
        by_trial("", [terms.model, *options.against], options.agent)
        others = [*options.cohort, *filter(None, [options.critic])]
        for model in (terms.model, *options.against):
            check_models([model, *options.cohort], options.judges, others, untagged=options.untagged)

    def upgrade(self, task: Mapping[str, Any], settings: Mapping[str, Any]) -> tuple[Data, Data]:
        """Return task and options of an older log, whose task held all of it."""
        own = ("puzzles", "demo", "speed")
        options = {name: task[name] for name in Options.model_fields if task.get(name) is not None}
        return {name: task[name] for name in own if name in task}, options

    def title_of(self, task: Task) -> str:
        """Return one line for lists."""
        return ", ".join(task.puzzles)

    def outcome(self, result: Mapping[str, Any]) -> RunVerdict:
        """Return how many attempts each model passed."""
        from assay.protocols.ai_crucible.report.words import outcome

        return outcome(result)

    def handout(self, task: Task, options: Options, run_id: str) -> bytes:
        """Return the bundle of a trial, and of those it was compared with.

        Raises:
            ConfigurationError: its logs are not on this machine.
            StoreDamaged: the ledger does not verify.
        """
        from ai_crucible.bundle import make_bundle

        first = options.trial or run_id
        many = (len(options.against) + 1) * max(1, len(options.agent))
        names = [first, *(f"{first}-{at}" for at in range(2, many + 1))]
        with tempfile.TemporaryDirectory() as folder:
            return make_bundle(workshop(options.folder or None), names, Path(folder, "trial.assay")).read_bytes()
