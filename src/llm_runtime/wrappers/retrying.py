"""Trying again: exponential backoff with full jitter, and the provider's own Retry-After."""

from __future__ import annotations

import asyncio
import random as _random
import time
from collections.abc import Awaitable, Callable
from dataclasses import replace

from llm_runtime.errors import CallError, CallTimeout, ReplyRepeats
from llm_runtime.events import CallRetried, Emit, silent
from llm_runtime.loops import before_the_loop
from llm_runtime.messages import Generate, Reply, Request, changed
from llm_runtime.structs import Struct


class Backoff(Struct):
    """How often and how patiently.

    Args:
        attempts: in all, 1 or more.
        base: seconds before the second attempt at the most; doubles with each further one.
        cap: seconds between two attempts at the most.
        patience: longest Retry-After, in seconds, that is waited for; a longer one ends the trying.
    """

    attempts: int = 5
    base: float = 0.5
    cap: float = 30.0
    patience: float = 120.0


def retrying(
    generate: Generate, backoff: Backoff = Backoff(), *, emit: Emit = silent,
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep, random: Callable[[], float] = _random.random,
    clock: Callable[[], float] = time.monotonic,
) -> Generate:  # fmt: skip
    """Ask again where the error says that it may help (``retryable``), and nowhere else.

    A model that was too slow twice, or twice found no end, is not asked again: it may charge for each time. Of one
    that repeats itself, what it said before is its answer.

    The reply carries the number of attempts and the time from the first attempt to the answer. Jitter is
    full: uniform between 0 and the backoff (Brooker, "Exponential Backoff and Jitter", 2015), above the
    Retry-After where there is one.
    """

    async def call(request: Request) -> Reply:
        begun = clock()
        attempt, slow = 1, 0
        while True:
            try:
                reply = await generate(request)
            except CallError as error:
                asked = error.retry_after or 0.0
                slow += isinstance(error, CallTimeout | ReplyRepeats)
                request = replace(request, repeated=request.repeated or isinstance(error, ReplyRepeats))
                if not error.retryable or attempt >= backoff.attempts or asked > backoff.patience or slow > 1:
                    if (kept := _kept(error)) is None:
                        raise
                    return replace(kept, attempts=attempt, latency_ms=round((clock() - begun) * 1000))
                wait = asked + random() * min(backoff.cap, backoff.base * 2 ** (attempt - 1))
                label, kind, wait_ms = str(request.label), type(error).__name__, round(wait * 1000)
                emit(CallRetried(label=label, attempt=attempt, error=kind, message=str(error), wait_ms=wait_ms))
            else:
                return changed(reply, attempts=attempt, latency_ms=round((clock() - begun) * 1000))
            await sleep(wait)
            attempt += 1

    return call


def _kept(error: CallError) -> Reply | None:
    """Return what a model said before it began to repeat itself, marked; ``None`` where it said nothing."""
    if not isinstance(error, ReplyRepeats) or error.partial is None:
        return None
    text = before_the_loop(error.partial.text)
    mark = "the model repeated one passage without end; the answer is what came before"
    return replace(error.partial, text=text, finish_reason="stop", repairs=(mark,)) if text else None
