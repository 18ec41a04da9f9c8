"""A build as a run: the project, its folder, and answers where there are some.

The project's own journal stays what it is folded from; the run tells the journal again from its beginning each time
it goes on, so that what happened to the project elsewhere is in its story too. Questions that only a person can
answer are calls like any other, to the seat ``person``: where that is ``terminal:``, they come up on the run's page
or at the keyboard.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

from pydantic import Field

from assay.demo import PreparedDemo, demo_answers, written_demo
from assay.fields import Ui
from assay.hooks import Data, Hooks
from assay.protocol import Handout, RunContext
from assay.protocols.criticality.packing import packed
from assay.protocols.criticality.report.words import place_name
from assay.protocols.criticality.seat_human import SeatHuman
from assay.protocols.criticality.sitting import SITTING, Sitting, rest_of
from assay.report.standing import RunVerdict
from assay.report.units import count_noun
from llm_runtime.errors import ConfigurationError, RunPaused
from llm_runtime.events import Event
from llm_runtime.models import Model, fits
from llm_runtime.names import Folder
from llm_runtime.rewording import reworded
from llm_runtime.toml import parse_toml

if TYPE_CHECKING:
    from criticality import Answers, RunResult
    from criticality.artifacts import Artifacts
    from criticality.human import Human
    from criticality.machine.states import ProtocolState

_PROJECT = re.compile(r"[a-z][a-z0-9-]{0,40}")


class Task(Model):
    """Which project."""

    name: Annotated[str, Ui(label="Project", advanced=False)] = Field(min_length=1)
    """Lower case, digits and hyphens, as in shared-kitty."""
    folder: Annotated[Folder, Ui(label="Folder")] = ""
    """Where the project goes, or where one lies already. Empty makes one."""
    language: Annotated[str, Ui(advanced=False, suggest="assay.protocols.criticality.task:known_languages")] = "python"
    """What to write it in. Empty means Python."""
    answers: Annotated[
        dict[str, Any] | str | None, Ui(kind="file", label="Answers", metavar="PATH", advanced=False)
    ] = None
    """A file of answers (TOML), or nothing: then the run's page asks you, question by question."""


class Options(Model):
    """Nothing to choose: how a project is built stands in its own ``criticality.toml``."""


class BuildHooks(Hooks[Task, Options]):
    """What a build does."""

    told = "assay.protocols.criticality.report:BuildFold"
    always_asked = ("terminal:",)  # the person: others are looked for once they are asked
    replayable = False
    seatless = True
    file = Handout("The project, ZIP", "zip")

    async def run(self, task: Task, options: Options, context: RunContext) -> Data:
        """Build the project as far as it goes; the result names its state, its folder and its trace.

        Raises:
            ConfigurationError: the folder holds another project, or an answer fits no question.
            RunPaused: a person is awaited, or has to find a way out of a block.
            LlmRuntimeError: whatever ends a build.
        """
        from criticality import Orchestrator, create_project, load_config, read_project
        from criticality.notifications import Notifier
        from criticality.project.files import CONFIG, JOURNAL
        from criticality.project.journal import read_journal

        root, sitting = Path(task.folder), SITTING.get() or Sitting()
        if not (root / JOURNAL).exists():
            create_project(root, task.name, seed=context.seed, clock=context.clock, target=task.language)
        count = 0

        def hear(event: Event) -> None:
            nonlocal count
            # Calls are in the run's log already: the model function that the project was handed has put them there.
            if event.type.startswith("criticality."):
                count += 1
                context.emit(event)

        for _, event in read_journal(root / JOURNAL):
            hear(event)
        artifacts = read_project(root)[1]
        answers = answers_of(cast("dict[str, Any] | None", task.answers))
        human: Human = (
            sitting.human(artifacts)
            if sitting.human
            else SeatHuman(context.generate, answers and rest_of(answers, artifacts), place=lambda: count)
        )
        notify = Notifier(root, load_config(root / CONFIG).notifications, context.clock)
        async with Orchestrator(
            root, context.generate, human=human, emit=hear, clock=context.clock, notify=notify
        ) as project:
            end = await project.run(until=(lambda state: _reached(state, sitting.until)) if sitting.until else None)
            return _result(root, end, project.artifacts)

    def prepare(self, task: Task, options: Options) -> tuple[Task, Options]:
        """Name the folder in full, and read the answers.

        Raises:
            ConfigurationError: the name or the answers cannot be used, or the folder is not one of a project.
        """
        from llm_runtime.settings import data_dir

        name, language = task.name.strip(), task.language.strip().lower() or "python"
        if not _PROJECT.fullmatch(name):
            raise ConfigurationError(f"name: {name[:80]!r} is no name; use lower case letters, digits and hyphens")
        root = Path(task.folder.strip()).expanduser() if task.folder.strip() else data_dir() / "projects" / name
        if not root.is_absolute():
            raise ConfigurationError(f"folder: write it in full, from the root of the disk, not {task.folder[:80]}")
        if root.exists() and not (root / ".criticality").exists() and any(root.iterdir()):
            raise ConfigurationError(f"folder: {root} is not empty and holds no project; name another")
        if language not in known_languages():
            raise ConfigurationError(f"language: there are {', '.join(known_languages())}")
        answers = _toml(task.answers) if isinstance(task.answers, str) else task.answers
        answers_of(answers)
        return Task(name=name, folder=str(root), language=language, answers=answers or None), options

    def upgrade(self, task: Mapping[str, Any], settings: Mapping[str, Any]) -> tuple[Data, Data]:
        """Return task and options of an older log."""
        return dict(task), {}

    def outcome(self, result: Mapping[str, Any]) -> RunVerdict:
        """Return how many claims hold."""
        claims = result["trace"]["claims"].values()
        holding = sum(claim["result"].startswith("holds") for claim in claims)
        ground = f"{holding} of {count_noun(len(claims), 'claim')} hold in every test"
        return RunVerdict("built", ground, leaning="good" if holding == len(claims) else "open")

    def handout(self, task: Task, options: Options, run_id: str) -> bytes:
        """Pack the project."""
        return packed(Path(task.folder))


def known_languages() -> list[str]:
    """Return the languages that a build can write."""
    from criticality.languages import languages

    return list(languages())


def _toml(text: str) -> dict[str, Any]:
    with reworded("answers: this is not TOML", tomllib.TOMLDecodeError):
        return parse_toml(text)


def _reached(state: ProtocolState, phase: str) -> bool:
    from criticality.machine.states import PHASES, Active

    return isinstance(state, Active) and PHASES.index(state.phase.phase) >= PHASES.index(phase)  # pyright: ignore[reportArgumentType]


def answers_of(answers: Mapping[str, Any] | None) -> Answers | None:
    """Return the answers that a run was started with; ``None`` where a person is asked everything.

    Raises:
        ConfigurationError: they are none.
    """
    from criticality import Answers

    if not answers:
        return None
    with fits("the answers do not fit at "):
        return Answers.model_validate(answers)


def _result(root: Path, end: RunResult, artifacts: Artifacts) -> dict[str, Any]:
    """Return how the project stands and its trace, or say what a person is awaited for.

    Raises:
        RunPaused: one is.
    """
    from criticality.machine.states import Blocked
    from criticality.machine.step import where

    result: dict[str, Any] = {"state": end.type, "folder": str(root), "project": artifacts.name}
    if isinstance(end.state, Blocked):
        raise RunPaused(f"the build is blocked: {end.state.query.question}", result, exit_code=1)
    if end.type != "completed":
        raise RunPaused(f"the build waits for you ({place_name(where(end.state))})", result)
    trace = root / "trace.json"
    if trace.is_file():
        result["trace"] = cast("dict[str, Any]", json.loads(trace.read_text(encoding="utf-8")))
    return result


def demo(folder: Path, speed: float) -> PreparedDemo:
    """Make the recorded build ready: what takes its time are real checks and tests, so no answer is waited for."""
    recorded = demo_answers("build")
    text = resources.files("assay.protocols.criticality").joinpath("demo", "answers.toml").read_text("utf-8")
    name = recorded.manifest["project"]["name"]
    task = {"name": name, "folder": str(folder / name), "language": "python", "answers": tomllib.loads(text)}
    return written_demo("criticality.build", recorded, task, {}, 0)
