"""Answers from a recording; what it does not have goes to a model, or is an error that says what differs."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from llm_runtime.messages import CallLabel, Generate, Reply, Request, request_digest
from llm_runtime.replay import Recording


def replaying(
    recording: Recording, otherwise: Generate | None = None, *, pace: Callable[[int], Awaitable[None]] | None = None
) -> Generate:
    """Return a model that gives the recorded answers.

    Args:
        recording: what was recorded.
        otherwise: the model to ask what the recording has no answer to. With one, calls that failed in the
            recording are asked again; without one, they fail again in the same way.
        pace: waited for before each recorded answer, with the milliseconds that the answer took when it was live.

    Raises (when called):
        ReplayMismatch: there is no recorded answer, and no model to ask instead.
    """
    if otherwise is not None and not len(recording):
        return otherwise
    occurrences: dict[str, int] = {}

    async def replay(request: Request) -> Reply:
        digest = request_digest(request.to_dict())
        occurrence = occurrences[digest] = occurrences.get(digest, 0) + 1
        reply = recording.reply(digest, occurrence)
        if reply is not None:
            if pace is not None:
                await pace(reply.latency_ms)
            return reply
        if otherwise is not None:
            return await otherwise(request)
        raise recording.error(digest, occurrence, request.label) or recording.mismatch(request, digest, occurrence)

    return replay


def as_recorded(generate: Generate, recording: Recording, *, recalled: bool = False) -> Generate:
    """Ask what a recording asked in its own form, older than today's; goes around what records the calls.

    Args:
        recalled: take what the recording asked under the same label, whatever today's words are.
    """
    asked: dict[CallLabel, int] = {}

    async def ask(request: Request) -> Reply:
        if recalled:
            turn = asked[request.label] = asked.get(request.label, 0) + 1
            request = recording.asked_as(request, turn)
        return await generate(recording.as_recorded(request))

    return ask
