"""A build from a run's opening: ``task`` holds the project, its folder, and answers where there are some.

The project's own journal stays what it is folded from; the run tells the journal again from its beginning each time
it goes on, so that what happened to the project elsewhere is in its story too. Questions that only a person can
answer are calls like any other, to the seat ``person``: where that is ``terminal:``, they come up on the run's page
or at the keyboard.
"""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from assay.protocols.criticality.asking_people import PERSON, PersonInSeat
from llm_runtime.errors import ConfigurationError
from llm_runtime.events import Emit, Event, RunStarted
from llm_runtime.messages import Generate

if TYPE_CHECKING:
    from criticality import Answers, RunResult
    from criticality.artifacts import Artifacts

__all__ = ["PERSON", "answers_of", "run"]
_OWN = "criticality."


async def run(started: RunStarted, generate: Generate, emit: Emit) -> dict[str, Any]:
    """Build the project as far as it goes; the result names its state, its folder and its trace.

    Raises:
        ConfigurationError: the folder holds another project, or an answer fits no question.
        LlmRuntimeError: whatever ends a build.
    """
    from criticality import Orchestrator
    from criticality.project.files import JOURNAL
    from criticality.project.journal import read_journal

    task = started.task
    root = Path(str(task["folder"]))
    _made(root, task, started.seed)
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

    given = answers_of(task)
    person = PersonInSeat(generate, given, place=lambda: asked)
    async with Orchestrator(root, generate, human=person, emit=hear, clock=_clock) as project:
        person.seen(project.artifacts)
        result = await project.run()
        return _result(root, result, project.artifacts)


def answers_of(task: dict[str, Any]) -> Answers | None:
    """The answers that a run was started with; ``None`` where a person is asked everything.

    Raises:
        ConfigurationError: they are none.
    """
    from pydantic import ValidationError

    from criticality import Answers

    if not task.get("answers"):
        return None
    try:
        return Answers.model_validate(task["answers"])
    except ValidationError as fault:
        first = fault.errors(include_url=False, include_input=False)[0]
        where = ".".join(map(str, first["loc"]))
        raise ConfigurationError(f"the answers do not fit at {where}: {first['msg']}") from None


def _made(root: Path, task: dict[str, Any], seed: int) -> None:
    """The project in its folder, made where there is none."""
    from criticality import create_project
    from criticality.canonical import toml
    from criticality.project.files import CONFIG, JOURNAL, write_atomic

    if (root / JOURNAL).exists():
        return
    if not (root / CONFIG).exists():
        project = {"name": str(task["name"]), "language": str(task.get("language") or "python")}
        write_atomic(root / CONFIG, toml({"project": project}))
    create_project(root, str(task["name"]), seed=seed, clock=_clock)


def _result(root: Path, result: RunResult, artifacts: Artifacts) -> dict[str, Any]:
    """What a finished run leaves: how the project stands, and its trace where it has one."""
    found: dict[str, Any] = {"state": result.type, "folder": str(root), "project": artifacts.name}
    trace = root / "trace.json"
    if result.type == "completed" and trace.is_file():
        found["trace"] = cast("dict[str, Any]", json.loads(trace.read_text(encoding="utf-8")))
    return found


def _is_own(event: Event) -> bool:
    return event.type.startswith(_OWN)


def _clock() -> int:
    return time.time_ns() // 1_000_000
