"""A protocol of somebody else, whose tasks name models, folders and addresses in places that ours do not have."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from pydantic import Field

from assay.fields import Ui
from assay.hooks import Data, Hooks
from assay.protocol import Protocol, RunContext, RunType
from llm_runtime.messages import CallLabel, Message, Request
from llm_runtime.models import Model
from llm_runtime.names import FilePath, Folder, ModelName


class Judge(Model):
    """Who judges, and by what."""

    model: ModelName = ""
    rules: FilePath = ""


class Task(Model):
    """What is asked."""

    question: str = Field(min_length=1)
    """In words."""


class Options(Model):
    """Whom, and where what they say goes."""

    judges: Annotated[list[Judge], Ui(kind="json")] = []
    """Who judges."""
    others: Annotated[dict[str, ModelName], Ui(kind="json")] = {}
    """Further models by their part."""
    out: Annotated[Folder, Ui(hidden=True)] = ""
    """Where a copy goes."""
    untold: str = ""
    """A model, of which the type says nothing."""


class GuestHooks(Hooks[Task, Options]):
    """What a visit does."""

    async def run(self, task: Task, options: Options, context: RunContext) -> Data:
        """Ask everybody who is named, and write down what they say."""
        judged = [judge.model for judge in options.judges]
        names = [*judged, *options.others.values(), options.untold]
        for number, name in enumerate(name for name in names if name):
            label = CallLabel("guest", "ask", f"judge {number}")
            await context.generate(Request(name, (Message("user", task.question),), label))
        return {"asked": len(names), "rules": written(task, options)}


def written(task: Task, options: Options) -> list[str]:
    """Write the copy, and read the rules."""
    if options.out:
        Path(options.out).mkdir(parents=True)
        Path(options.out, "copy.txt").write_text(task.question)
    return [Path(judge.rules).read_text() for judge in options.judges if judge.rules]


PROTOCOL = Protocol(
    name="guest",
    title="Guest",
    about="What a guest says.",
    how="It asks.",
    command=("guest", f"{__name__}:run"),
    command_about="Ask a guest.",
    runs=(
        RunType(name="guest.ask", title="Ask a guest", about="It asks.", noun="visit", hooks=f"{__name__}:GuestHooks"),
    ),
)
