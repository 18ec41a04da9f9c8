"""By which behaviour of its engines a run is carried out: today's, the one its log names, or the one it shows."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Mapping, Sequence
from contextlib import suppress

from assay import __version__
from assay.launch.hearing import hearing
from assay.launch.logs import first_event
from assay.protocol import RunContext, load
from assay.registry import Prepared, protocol_of, tools_of
from assay.seat_tools.using import tooled
from assay.terms import in_force
from llm_runtime.behaviour import RUNTIME, Behaviour, Numbers, behaving, recalls
from llm_runtime.errors import ConfigurationError, ReplayMismatch
from llm_runtime.events import Event, silent
from llm_runtime.messages import Reply, Request, request_digest
from llm_runtime.replay import Recording
from llm_runtime.wrappers.replaying import as_recorded, replaying

ASSAY = Behaviour("assay", number=1, packages=("assay.launch", "assay.seat_tools"))
"""What the application itself tells models: remarks on the way, tools of seats."""
#: Seconds after which an engine that asks for nothing the log holds is taken to ask for something else.
_STILL = 2.0


def engines(kind: str) -> list[Behaviour]:
    """Return the behaviours that decide the requests of a kind of run."""
    return [ASSAY, RUNTIME, *map(load, protocol_of(kind).behaviours)]


def todays(kind: str) -> dict[str, int]:
    """Return the numbers that a run has which starts now."""
    return {behaviour.engine: behaviour.number for behaviour in engines(kind)}


def names_of(numbers: Numbers) -> dict[str, int]:
    """Return numbers as a log says them."""
    return {behaviour.engine: number for behaviour, number in numbers}


async def of_log(run: Prepared, events: Sequence[Event]) -> Numbers:
    """Return the numbers by which a recorded run is gone on with, forked or replayed.

    A log of before version 0.2 names none: it gets those by which its engine asks what it holds, found by trying.

    Raises:
        ConfigurationError: a newer release wrote the log, or no behaviour that this one knows fits it.
    """
    started = first_event(events)
    known = engines(run.run.name)
    if started.behaviours or _release(started.version) >= (0, 2):
        if _release(started.version) > _release(__version__):
            raise ConfigurationError(
                f"run {started.run_id} was written by Assay {started.version[:40]}, this is {__version__}; update "
                "to go on with it"
            )
        return numbered(f"run {started.run_id}", started.behaviours, known)
    choices = itertools.product(*(range(behaviour.unnumbered, 0, -1) for behaviour in known))
    candidates = [tuple(zip(known, numbers, strict=True)) for numbers in choices]
    recorded = Recording.from_events(events)
    if len(candidates) == 1 or not run.hooks.replayable or not recorded.digests:
        return candidates[0]
    for numbers in candidates:
        if await _asks(run, events, recorded, numbers):
            return numbers
    raise ConfigurationError(
        f"run {started.run_id}: its log names no behaviour, and none that this release knows asks what it holds",
        advice=f"it can be read: assay runs show {started.run_id}",
    )


def numbered(what: str, behaviours: Mapping[str, int], known: Sequence[Behaviour]) -> Numbers:
    """Return the numbers that a log or a batch names, today's engines with them.

    Raises:
        ConfigurationError: it names none, or one that this release does not know; ``what`` says whose they are.
    """
    highest = {behaviour.engine: behaviour.number for behaviour in known}
    if not behaviours:
        raise ConfigurationError(f"{what} names no behaviour; go on with it where it was written")
    for engine, number in behaviours.items():
        if not 1 <= number <= highest.get(engine, 0):
            knows = f"1 to {highest[engine]}" if engine in highest else "no such engine"
            raise ConfigurationError(
                f"{what} has behaviour {number} of {engine[:40]}, this release knows {knows}; update to go on"
            )
    return [(behaviour, behaviours.get(behaviour.engine, 1)) for behaviour in known]


def _release(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split(".")[:3] if part.isdigit())


async def _asks(run: Prepared, events: Sequence[Event], recorded: Recording, numbers: Numbers) -> bool:
    """Tell whether an engine asks all that a log holds, where it behaves by these numbers."""
    started = first_event(events)
    left, complete = set(recorded.digests), asyncio.Event()
    answer = replaying(recorded)

    async def generate(request: Request) -> Reply:
        digest = request_digest(request.to_dict())
        left.discard(digest)
        if not left:
            complete.set()
        if digest in recorded.digests:
            with suppress(ReplayMismatch):
                return await answer(request)
        elif recorded.has_label(request.label):
            raise recorded.mismatch(request, digest, 1)
        # The log ends before this call. It is still the right behaviour where others ask for the rest.
        while True:
            before = len(left)
            await asyncio.sleep(_STILL)
            if len(left) == before:
                raise recorded.mismatch(request, digest, 1)

    model = hearing(as_recorded(generate, recorded, recalled=recalls(numbers)), recorded, started)
    model = tooled(model, tools_of(run), started.seed, run.run.tooled_seats)
    context = RunContext(started.run_id, started.seed, model, silent, lambda: 0, in_force(list(events)))
    with behaving(numbers):
        engine = asyncio.ensure_future(run.hooks.run(run.task, run.options, context))
    waiting = asyncio.ensure_future(complete.wait())
    try:
        await asyncio.wait([engine, waiting], return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in (engine, waiting):
            task.cancel()
        await asyncio.gather(engine, waiting, return_exceptions=True)
    return complete.is_set()
