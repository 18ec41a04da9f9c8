"""What somebody said to a run that was under way: every call that has no answer yet hears it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from assay.seat_tools.using import TOOL
from llm_runtime.events import RunStarted
from llm_runtime.messages import CallLabel, Generate, Reply, Request, request_digest
from llm_runtime.prompts import Fence, load_prompt
from llm_runtime.replay import Recording


def hearing(generate: Generate, answers: Recording, started: RunStarted) -> Generate:
    """Return a model that hears what was said, except in calls that were answered before it was.

    What the log holds decides which those are, so whoever resumes, forks or replays the run asks the same.

    Args:
        generate: the model.
        answers: those that the run has already.
        started: the run's first event; ``remarks`` among its settings are the words, oldest first, each heard by
            the calls that came after it.
    """
    remarks: list[str] = started.settings.get("remarks", [])
    if not remarks:
        return generate

    async def ask(request: Request) -> Reply:
        if request.model.startswith(TOOL):
            return await generate(request)
        for many in range(len(remarks)):
            asked = _told(request, remarks[:many], started.seed)
            if answers.has_reply(request_digest(answers.as_recorded(asked).to_dict()), 1):
                return await generate(asked)
        return await generate(_told(request, remarks, started.seed))

    return ask


def _told(request: Request, remarks: Sequence[str], seed: int) -> Request:
    if not remarks:
        return request
    fence = Fence(seed, CallLabel(request.label.protocol, "remarks", request.label.seat))
    words = load_prompt("assay.launch", "remarks").render(remarks=fence("REMARKS ON THE WAY", "\n\n".join(remarks)))
    last = request.messages[-1]
    return replace(request, messages=(*request.messages[:-1], replace(last, content=f"{last.content}\n\n{words}")))
