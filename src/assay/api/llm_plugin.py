"""Models of the program ``llm``: ``llm -m assay/ask "..."`` asks a council, as a chat program at ``/v1`` does."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import closing
from typing import Any

import llm
from llm.parts import StreamEvent, TextPart
from pydantic import Field

from assay.api.catalogue import PREFIX, ChatModel, chat_models
from assay.console.options import open_runs
from assay.hooks import hooks_of
from assay.launch import Followers, Launcher, Outcome
from assay.registry import fold_for, protocol_of, story_of
from assay.report.clean import clean
from assay.report.places import story_text
from assay.web.forms import read_form
from llm_runtime.clock import now_ms
from llm_runtime.errors import LlmRuntimeError
from llm_runtime.events import Event
from llm_runtime.rewording import reworded
from llm_runtime.store import RunStore

_BOUNDS = ("budget", "max_calls", "deadline")


@llm.hookimpl
def register_models(register: Callable[..., None]) -> None:
    """Offer a model for each kind of run that answers in a chat, and for each preset."""
    for name, model in chat_models().items():
        # Its command's name, too, where that is another.
        owner = protocol_of(model.run.name)
        own = model.run is owner.runs[0] and name == model.run.chat != owner.command[0]
        register(RunModel(model), aliases=(f"{PREFIX}{owner.command[0]}",) if own else ())


class RunModel(llm.Model):
    """A kind of run as a model; progress comes as reasoning."""

    can_stream = True

    class Options(llm.Model.Options):
        """Bounds of the run."""

        budget: float | None = Field(default=None, ge=0, description="Dollars that the run may spend.")
        max_calls: int | None = Field(default=None, ge=1, description="Calls of models that it may make.")
        deadline: float | None = Field(default=None, gt=0, description="Seconds that it may take.")

    def __init__(self, model: ChatModel) -> None:
        self.model_id = model.id
        self._model = model

    def execute(
        self, prompt: llm.Prompt, stream: bool, response: llm.Response, conversation: llm.Conversation | None
    ) -> Iterator[str | StreamEvent]:
        """Carry the run out, and yield its steps and its answer.

        Raises:
            ModelError: it gave no answer; says why, and how it goes on.
        """
        turns = [
            (message.role, "".join(part.text for part in message.parts if isinstance(part, TextPart)))
            for message in prompt.messages
            if message.role in ("system", "user", "assistant")
        ]
        bounds = {name: value for name in _BOUNDS if (value := getattr(prompt.options, name)) is not None}
        refused = reworded("", LlmRuntimeError, kind=llm.ModelError)
        with refused, closing(open_runs(None)) as store, asyncio.Runner() as runner:
            yield from self._carried_out(store, runner, turns, bounds, response)

    def _carried_out(
        self, store: RunStore, runner: asyncio.Runner, turns: list[tuple[str, str]], bounds: dict[str, Any],
        response: llm.Response,
    ) -> Iterator[str | StreamEvent]:  # fmt: skip
        fields = {**hooks_of(self._model.run).chat_fields(turns), **self._model.preset, **bounds}
        run, terms = read_form({"kind": self._model.run.name, **fields}, strict=True)
        fold = fold_for(run.run.name)
        #: ends with an empty one
        steps = asyncio.Queue[str]()

        def follow(event: Event) -> None:
            fold.apply(event, now_ms())
            if step := fold.announce(event):
                steps.put_nowait(clean(step))

        async def begin() -> asyncio.Task[Outcome]:
            running = await Launcher(store).start(run, terms, followers=Followers(listeners=[follow]))
            running.on_end(lambda _: steps.put_nowait(""))
            return asyncio.create_task(running.outcome())

        ended = runner.run(begin())
        while step := runner.run(steps.get()):
            yield StreamEvent(type="reasoning", chunk=f"{step}\n")
        yield self._answer(store, runner.run(_of(ended)), response)

    def _answer(self, store: RunStore, outcome: Outcome, response: llm.Response) -> str:
        summary = store.summary(outcome.run_id)
        cost = None if summary.cost_unknown else summary.cost / 1_000_000
        response.response_json = {"run_id": outcome.run_id, "calls": summary.calls, "cost_usd": cost}
        response.input_tokens, response.output_tokens = summary.input_tokens, summary.output_tokens
        if outcome.state != "finished":
            raise llm.ModelError(
                f"{outcome.error or 'the run was stopped'}; go on with it: assay runs resume {outcome.run_id}"
            )
        answer = hooks_of(self._model.run).chat_answer(outcome.result)
        return clean(answer or story_text(story_of(store.records(outcome.run_id), summary.state), ".md"))


async def _of(ended: asyncio.Task[Outcome]) -> Outcome:
    return await ended
