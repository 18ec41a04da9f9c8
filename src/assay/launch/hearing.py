"""What somebody said to a run that was under way: every call that has no answer yet hears it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from llm_runtime.events import RunStarted
from llm_runtime.messages import CallLabel, Generate, Message, Reply, Request, request_digest
from llm_runtime.prompts import Fence, load_prompt
from llm_runtime.replay import Recording, Rewordings


def hearing(generate: Generate, answers: Recording, started: RunStarted, reworded: Rewordings = ()) -> Generate:
    """Return a model that hears what was said, except in calls that were answered before it was.

    What the log holds decides which those are, so whoever resumes, forks or replays the run asks the same.

    Args:
        generate: the model.
        answers: those that the run has already.
        started: the run's first event; ``said`` among its settings are the words, oldest first, each heard by the
            calls that came after it.
        reworded: passages of prompts as they are now and as older logs have them.
    """
    said: list[str] = started.settings.get("said", [])
    if not said:
        return generate

    async def ask(request: Request) -> Reply:
        for many in range(len(said)):
            asked = _told(request, said[:many], started.seed)
            if answers.has_reply(request_digest(answers.as_recorded(asked, reworded).to_dict()), 1):
                return await generate(asked)
        return await generate(_told(request, said, started.seed))

    return ask


def _told(request: Request, said: Sequence[str], seed: int) -> Request:
    if not said:
        return request
    fence = Fence(seed, CallLabel(request.label.protocol, "said", request.label.seat))
    words = load_prompt("assay.launch", "said").render(said=fence("SAID ON THE WAY", "\n\n".join(said)))
    last = request.messages[-1]
    told = Message(last.role, f"{last.content}\n\n{words}")
    return replace(request, messages=(*request.messages[:-1], told))
