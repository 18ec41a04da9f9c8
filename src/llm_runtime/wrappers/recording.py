"""Says of every call what was asked and what came of it: the one place where calls become events."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeAlias

from llm_runtime.answerer import Answerer
from llm_runtime.errors import CallError, LlmRuntimeError
from llm_runtime.events import CallFailed, CallFinished, CallStarted, Emit
from llm_runtime.events.calls import CALL_FIELDS
from llm_runtime.messages import Generate, Reply, Request
from llm_runtime.wrappers.accounts import Bill, Budget, CallBook

Who: TypeAlias = "Callable[[Request], Awaitable[Answerer | None]]"
"""Tells who will answer a request, as it is routed; ``None`` where nobody knows."""


class StoppedAfter(asyncio.CancelledError):
    """A call was cancelled when its answer had come: who keeps answers elsewhere finds it here."""

    def __init__(self, reply: Reply) -> None:
        super().__init__()
        self.reply = reply


def recording(
    generate: Generate, emit: Emit, *, replayed: Callable[[str, int], bool] = lambda digest, occurrence: False,
    who: Who | None = None, budget: Budget | None = None,
) -> Generate:  # fmt: skip
    """Return a model that emits ``call.started`` before each call, ``call.finished`` or ``call.failed`` after it.

    The answer is passed on when what ``emit`` returned says that it is on disk: what is paid for is never lost.
    A call is known by its request's digest and its occurrence among equal requests, never by when it was made, so
    the log says the same whatever order the answers arrive in. A cancelled call emits nothing further, unless
    attempts before had to be paid for: it is as unfinished as one that a killed process had in flight. One that is
    cancelled while its answer is written raises that with the answer, :class:`StoppedAfter`.

    Args:
        generate: the model.
        emit: where the events go; what it raises ends the call.
        replayed: tells, by digest and occurrence, the calls that a recording answers, so that their events say so.
            For a replay ``recording(replaying(old), emit, replayed=old.has)``; for a run that goes on
            ``recording(replaying(old, live), emit, replayed=old.has_reply)``, since failed calls are asked again.
        who: tells who answers, for the events to say it.
        budget: of the run, in whose name ``generate`` holds what a call may take: these events tell its movements,
            and a call begins when its money is held.
    """
    occurrences: dict[str, int] = {}

    async def generate_and_record(request: Request) -> Reply:
        started = CallStarted.of(request, occurrences, replayed, await who(request) if who is not None else None)
        book = CallBook(None if started.replayed else budget, lambda account: emit(started.held(account)))
        if not book.tells:
            book.begin()
        with Bill(book) as bill:
            try:
                reply = await generate(request)
            except asyncio.CancelledError as stop:
                if bill.cost or book.owed:
                    emit(_failed(started, stop, book, bill.cost))
                raise
            except Exception as error:
                _complete(error, request, bill)
                book.begin()
                if (written := emit(_failed(started, error, book))) is not None:
                    await written
                raise
        book.begin()
        await _on_disk(emit(CallFinished.of(started, reply, book.pay())), reply)
        return reply

    return generate_and_record


def _complete(error: Exception, request: Request, bill: Bill) -> None:
    """Put on an error which call it ended, and what that is known to have cost."""
    if isinstance(error, LlmRuntimeError):
        bill.sign(error)
    if isinstance(error, CallError):
        error.label = error.label or request.label


async def _on_disk(written: Awaitable[None] | None, reply: Reply) -> None:
    try:
        if written is not None:
            await written
    except asyncio.CancelledError:
        raise StoppedAfter(reply) from None


def _failed(started: CallStarted, error: BaseException, book: CallBook, cost: int | None = None) -> CallFailed:
    call = error if isinstance(error, CallError) else CallError("")
    return CallFailed(
        digest=started.digest,
        occurrence=started.occurrence,
        error=type(error).__name__,
        # Without the address that str() of a call's error adds: the fields below hold it.
        message=BaseException.__str__(error) if call is error else str(error),
        **{name: getattr(call, name) for name in CALL_FIELDS},
        partial=call.partial.to_dict() if call.partial else None,
        replayed=started.replayed,
        cost=error.cost if isinstance(error, LlmRuntimeError) else cost,
        account=book.pay(),
    )
