"""Events that open and close a run's log."""

from __future__ import annotations

from typing import Any, Literal

from llm_runtime.events.event import Event


class RunStarted(Event, type="run.started"):
    """First event of every log: all that is needed to do the run again.

    Args:
        run_id: the run's id.
        protocol: the import package of the protocol.
        title: one line for lists: the question, the topic.
        task: what was asked, in full, as the protocol takes it.
        settings: configuration that changes requests, without secrets.
        seed: 0 to 2^53-1; every nonce and every random choice of the run derives from it.
        parent: the run this one was forked from, or empty.
        forked_at: sequence number in the parent up to which calls are shared; 0 without a parent.
        origin: ``"live"``, ``"demo"`` or ``"replay"``.
        version: of Assay.
        behaviours: the number of each engine's behaviour; a log of before version 0.2 has none.
    """

    run_id: str
    protocol: str
    title: str
    task: dict[str, Any]
    settings: dict[str, Any]
    seed: int
    parent: str = ""
    forked_at: int = 0
    origin: Literal["live", "demo", "replay"] = "live"
    version: str = ""
    behaviours: dict[str, int] = {}


class RunResumed(Event, type="run.resumed"):
    """A run that was interrupted or stopped goes on; its finished calls are not made again.

    ``terms`` are the models and bounds that it goes on with where they differ from those before; they hold from now
    on.
    """

    finished_calls: int
    terms: dict[str, Any] = {}


class RunFinished(Event, type="run.finished"):
    """Last event of a run that ended by itself.

    ``state`` is ``"finished"``; ``"stopped"`` where a budget, a deadline or a person ended it, or a person
    is awaited, and it can be resumed; ``"failed"`` otherwise. ``result`` is the protocol's own result, as data.
    ``message`` is what happened, ``advice`` what a command line can do about it; ``bound`` is the term that was
    reached, by its name.
    """

    state: Literal["finished", "stopped", "failed"]
    result: dict[str, Any] = {}
    error: str = ""
    message: str = ""
    advice: str | None = None
    bound: str | None = None
    newer = ("advice", "bound")


class RunRecovered(Event, type="run.recovered"):
    """The log lost its end, by a power cut or because a copy was restored, and goes on from what was left.

    ``lost`` records were gone; ``length`` and ``digest`` are what the signed head had vouched for.
    """

    lost: int
    length: int
    digest: str
