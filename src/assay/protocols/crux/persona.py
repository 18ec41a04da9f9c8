"""A persona built from imported texts, as a run."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field

from assay.fields import Ui
from assay.protocol import RunContext
from assay.protocols.crux.people import open_people, shipped_id, stored_name
from assay.protocols.crux.task import need_extra
from llm_runtime.models import Model


class Task(Model):
    """Whose texts are read."""

    name: Annotated[str, Ui(flag="NAME", doors=("form",))] = Field(min_length=1)
    """The name under which the texts were imported."""
    people: Annotated[str, Ui(hidden=True)] = ""
    """The folder of personas."""


class Options(Model):
    """How much is read."""

    most_chunks: Annotated[int, Ui(show_default=True, label="Passages")] = Field(default=200, ge=1)
    """Passages read for beliefs."""
    strict: bool = False
    """Keep nothing where the beliefs do not pass their gate."""


def prepare(task: Task, options: Options) -> tuple[Task, Options]:
    """Look the texts up.

    Raises:
        PersonaError: nobody's texts were imported under that name.
        MissingExtraError: the libraries of the extra ``debate`` are not installed.
    """
    from crux.personas import PersonaError

    need_extra()
    people = open_people(task.people)
    if author := shipped_id(task.name, people):
        raise PersonaError(
            f"{author} comes with Assay, with a contract and beliefs written by hand, and can debate as it is; to "
            "build one from texts of your own, import them first"
        )
    stored = people.corpus(stored_name(task.name, people) or task.name)
    return Task(name=stored.name, people=str(people.root.absolute())), options


async def run(task: Task, options: Options, context: RunContext) -> dict[str, Any]:
    """Build the persona and keep it; the result says what came of it.

    Answers are kept beside the texts, so a build that was stopped asks nothing twice.

    Raises:
        PersonaError: nobody's texts were imported under that name, or its beliefs do not pass and must.
        LlmRuntimeError: whatever ends a build.
    """
    from crux.personas import PersonaStore, build_persona, require_graph

    store = PersonaStore(Path(task.people))
    stored = store.corpus(task.name)
    answers = store.answers(stored.name)
    persona, report = await build_persona(
        stored.name,
        stored.corpus,
        generate=context.generate,
        aliases=stored.aliases,
        handle=stored.handle,
        answers=answers,
        emit=context.emit,
        most_chunks=options.most_chunks,
    )
    if options.strict:
        require_graph(persona, report)
    store.save(persona)
    asked = {"asked": answers.asked, "reused": answers.reused}
    return {"persona": persona.model_dump(mode="json"), "gate": report.model_dump(mode="json"), **asked}


def title_of(task: Task) -> str:
    """Return one line for lists."""
    return f"{task.name}, from their texts"


def upgrade(task: Mapping[str, Any], settings: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return task and options of an older log, whose task held the number of passages."""
    most = task.get("most_chunks") or 200
    return {"name": task["name"], "people": task["people"]}, {"most_chunks": most}
