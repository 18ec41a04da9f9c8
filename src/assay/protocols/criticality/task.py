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
from collections.abc import Callable, Mapping
from importlib import resources
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

from pydantic import Field, ValidationError

from assay.demo import PreparedDemo, demo_answers, written_demo
from assay.fields import Ui
from assay.protocol import RunContext
from assay.protocols.criticality.asking_people import PERSON, PersonInSeat
from llm_runtime.errors import ConfigurationError, MissingExtraError
from llm_runtime.events import Event
from llm_runtime.models import Model, first_fault

if TYPE_CHECKING:
    from criticality import Answers, RunResult
    from criticality.artifacts import Artifacts

__all__ = ["PERSON", "Options", "Task", "answers_of", "prepare", "run"]
_OWN = "criticality."
_PROJECT = re.compile(r"[a-z][a-z0-9-]{0,40}")


class Task(Model):
    """Which project."""

    name: Annotated[str, Ui(label="Project", advanced=False)] = Field(min_length=1)
    """Lower case, digits and hyphens, as in shared-kitty."""
    folder: Annotated[str, Ui(label="Folder", advanced=False)] = ""
    """Where the project goes, or where one lies already. Empty makes one."""
    language: Annotated[str, Ui(advanced=False, suggest="assay.protocols.criticality.task:known_languages")] = (
        "python"
    )
    """What to write it in. Empty means Python."""
    answers: Annotated[
        dict[str, Any] | str | None, Ui(kind="file", label="Answers", metavar="PATH", advanced=False)
    ] = None
    """A file of answers (TOML), or nothing: then the run's page asks you, question by question."""


class Options(Model):
    """How far it goes."""

    until: Annotated[str, Ui(hidden=True)] = ""
    """The phase to stop before; empty goes on to the end."""


def prepare(task: Task, options: Options) -> tuple[Task, Options]:
    """Name the folder in full, and read the answers.

    Raises:
        ConfigurationError: the name or the answers cannot be used, or the folder is not one of a project.
        MissingExtraError: the toolchain is not installed.
    """
    from llm_runtime.settings import data_dir

    if any(find_spec(module) is None for module in ("libcst", "hypothesis", "pytest", "mypy")):
        raise MissingExtraError("a build", "code")
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


def known_languages() -> list[str]:
    """Return the languages that a build can write."""
    from criticality.languages import languages

    return list(languages())


def _toml(text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as fault:
        raise ConfigurationError(f"answers: this is not TOML: {fault}") from None


async def run(task: Task, options: Options, context: RunContext) -> dict[str, Any]:
    """Build the project as far as it goes; the result names its state, its folder and its trace.

    Raises:
        ConfigurationError: the folder holds another project, or an answer fits no question.
        LlmRuntimeError: whatever ends a build.
    """
    from criticality import Orchestrator
    from criticality.project.files import JOURNAL
    from criticality.project.journal import read_journal

    root, emit = Path(task.folder), context.emit
    _made(root, task, context.seed, context.clock)
    told = read_journal(root / JOURNAL)
    asked = sum(_is_own(event) for _, event in told)
    for _, event in told:
        if _is_own(event):
            emit(event)

    def hear(event: Event) -> None:
        nonlocal asked
        # Calls are in the run's log already: the model function that the project was given has put them there.
        if _is_own(event):
            asked += 1
            emit(event)

    given = answers_of(cast("dict[str, Any] | None", task.answers))
    person = PersonInSeat(context.generate, given, place=lambda: asked)
    async with Orchestrator(root, context.generate, human=person, emit=hear, clock=context.clock) as project:
        person.seen(project.artifacts)
        result = await project.run()
        return _result(root, result, project.artifacts)


def answers_of(answers: Mapping[str, Any] | None) -> Answers | None:
    """Return the answers that a run was started with; ``None`` where a person is asked everything.

    Raises:
        ConfigurationError: they are none.
    """
    from criticality import Answers

    if not answers:
        return None
    try:
        return Answers.model_validate(answers)
    except ValidationError as fault:
        raise ConfigurationError(f"the answers do not fit at {first_fault(fault)}") from None


def _made(root: Path, task: Task, seed: int, clock: Callable[[], int]) -> None:
    """Make the project in its folder where there is none."""
    from criticality import create_project
    from criticality.canonical import toml
    from criticality.project.files import CONFIG, JOURNAL, write_atomic

    if (root / JOURNAL).exists():
        return
    if not (root / CONFIG).exists():
        project = {"name": task.name, "language": task.language}
        write_atomic(root / CONFIG, toml({"project": project}))
    create_project(root, task.name, seed=seed, clock=clock)


def _result(root: Path, result: RunResult, artifacts: Artifacts) -> dict[str, Any]:
    """What a finished run leaves: how the project stands, and its trace where it has one."""
    found: dict[str, Any] = {"state": result.type, "folder": str(root), "project": artifacts.name}
    trace = root / "trace.json"
    if result.type == "completed" and trace.is_file():
        found["trace"] = cast("dict[str, Any]", json.loads(trace.read_text(encoding="utf-8")))
    return found


def _is_own(event: Event) -> bool:
    return event.type.startswith(_OWN)


def upgrade(task: Mapping[str, Any], settings: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return task and options of an older log."""
    return dict(task), {}


def demo(folder: Path, speed: float) -> PreparedDemo:
    """Make the recorded build ready: what takes its time are real checks and tests, so no answer is waited for."""
    recorded = demo_answers("build")
    text = resources.files("assay.protocols.criticality").joinpath("demo", "answers.toml").read_text("utf-8")
    name = recorded.manifest["project"]["name"]
    task = {"name": name, "folder": str(folder / name), "language": "python", "answers": tomllib.loads(text)}
    return written_demo("criticality.build", recorded, task, {}, 0)
