"""Where a person sits: questions that runs of this process put to somebody, until a page brings the answer."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

from assay.web.people import WHO
from llm_runtime.errors import ConfigurationError
from llm_runtime.messages import Generate, Reply, Request
from llm_runtime.tokens import estimated_usage


@dataclass(frozen=True, slots=True)
class WaitingRequest:
    """A request that waits for a person.

    Args:
        name: unique in its run: ``"q1"``.
        request: what is asked.
        reply: where the answer goes, with the name of who gives it.
    """

    name: str
    request: Request
    reply: asyncio.Future[tuple[str, str]]


class Questions:
    """The open questions of every run of this process.

    Args:
        changed: takes the id of a run whose questions changed.
    """

    def __init__(self, changed: Callable[[str], None]) -> None:
        self._changed = changed
        self._open: dict[str, dict[str, WaitingRequest]] = {}
        self._count = 0

    def person(self, run_id: str) -> Generate:
        """Return the model function that asks on the run's page. An answer costs nothing; tokens are estimated."""

        async def generate(request: Request) -> Reply:
            self._count += 1
            question = WaitingRequest(f"q{self._count}", request, asyncio.get_running_loop().create_future())
            questions = self._open.setdefault(run_id, {})
            questions[question.name] = question
            self._changed(run_id)
            try:
                text, name = await question.reply
            finally:
                del questions[question.name]
                self._changed(run_id)
            usage = estimated_usage(request, text)
            return Reply(text, name or request.model, "terminal", usage, cost=0, cost_source="free")

        return generate

    def of_run(self, run_id: str) -> list[WaitingRequest]:
        """Return the open questions of the run, in the order it asked; one that has its answer is none."""
        return [question for question in self._open.get(run_id, {}).values() if not question.reply.done()]

    def answer(self, run_id: str, name: str, text: str) -> None:
        """Give the run its answer, by whoever asks for this.

        Raises:
            ConfigurationError: the answer is blank, or the question is not open (any more).
        """
        question = self._open.get(run_id, {}).get(name)
        if question is None or question.reply.done():
            raise ConfigurationError("this question is not open any more: it was answered, or its run ended")
        if not text.strip():
            raise ConfigurationError("the answer is blank; write one")
        who = WHO.get()
        question.reply.set_result((text, who.name if who else ""))
