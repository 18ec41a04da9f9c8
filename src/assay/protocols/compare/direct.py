"""One call to one model, with the turns of a chat as they are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Any, Literal

from pydantic import Field

from assay.fields import Ui
from assay.hooks import Data, Hooks
from assay.protocol import RunContext
from assay.report.generic import GenericFold
from assay.report.run import RunTotals
from assay.report.standing import RunVerdict
from assay.report.story import Prose, Section
from llm_runtime.documents.pictures import picture_at
from llm_runtime.messages import CallLabel, Message, Request
from llm_runtime.models import Model

_MODEL = "openrouter/auto"


class Turn(Model):
    """One message."""

    role: Literal["system", "user", "assistant"]
    content: str


class Task(Model):
    """A chat whose next message is wanted."""

    turns: Annotated[list[Turn], Ui(hidden=True)] = Field(min_length=1)
    """Its messages, oldest first."""
    pictures: Annotated[tuple[str, ...], Ui(hidden=True)] = ()
    """What is shown with the last of them, as data: addresses."""


class Options(Model):
    """How the model is asked."""

    temperature: float | None = Field(default=None, ge=0, le=2, allow_inf_nan=False)
    """0 to 2; where left out it is the provider's."""


class DirectHooks(Hooks[Task, Options]):
    """What a direct call does."""

    told = f"{__name__}:DirectFold"
    pictures = "pictures"

    async def run(self, task: Task, options: Options, context: RunContext) -> Data:
        """Ask once; the result is ``{"answer", "model"}``.

        Raises:
            LlmRuntimeError: the call failed.
        """
        *before, last = (Message(turn.role, turn.content) for turn in task.turns)
        shown = tuple(picture_at("a picture of the chat", one, known=True) for one in task.pictures)
        turns = (*before, replace(last, pictures=shown))
        label = CallLabel("compare", "direct")
        reply = await context.generate(Request(_MODEL, turns, label, temperature=options.temperature))
        return {"answer": reply.text, "model": reply.model}

    def shows(self, task: Task) -> bool:
        """Return whether there is a picture."""
        return bool(task.pictures)

    def title_of(self, task: Task) -> str:
        """Return the last message."""
        return task.turns[-1].content

    def chat_fields(self, turns: Sequence[tuple[str, str]]) -> Data:
        """Return the chat as it is."""
        return {"turns": [{"role": role, "content": text} for role, text in turns]}

    def chat_answer(self, result: Mapping[str, Any]) -> str:
        """Return what the model answered."""
        return str(result.get("answer", ""))

    def outcome(self, result: Mapping[str, Any]) -> RunVerdict:
        """Return that nobody looked at the answer."""
        return RunVerdict("answered", "by one model", "nobody objected or checked", gist=self.chat_answer(result))


def _answered(run: RunTotals) -> Section | None:
    text = str(run.result.get("answer", ""))
    return Section("Answer", (Prose(text, lead=True),)) if text else None


class DirectFold(GenericFold):
    """Shows the answer, and what every run has."""

    sections = (_answered,)
