"""What a list of runs says of each."""

from __future__ import annotations

from typing import Literal, TypeAlias

from llm_runtime.structs import Struct

RunState: TypeAlias = Literal["running", "interrupted", "finished", "stopped", "failed"]


class RunSummary(Struct):
    """One line of a list of runs.

    Args:
        run_id: the name of the run in this store.
        protocol: the import package of its protocol.
        title: one line for lists.
        state: how it ended; ``"running"`` while a live process holds it, ``"interrupted"`` where none does.
        origin: ``"live"``, ``"demo"`` or ``"replay"``.
        started_at: of its first event, in milliseconds since the Unix epoch.
        updated_at: of its last event, likewise.
        parent: the run it was forked from, or empty.
        events: length of its log.
        calls: finished calls that a model answered; answers out of a recording do not count, here and below.
        input_tokens: sum over those calls.
        output_tokens: likewise.
        cost: micro-dollars, of the calls whose price is known.
        cost_unknown: true where the price of at least one call is not known.
        unknown: micro-dollars that attempts may have taken besides, of which nobody knows the end.
    """

    run_id: str
    protocol: str
    title: str
    state: RunState
    origin: str
    started_at: int
    updated_at: int
    parent: str
    events: int
    calls: int
    input_tokens: int
    output_tokens: int
    cost: int
    cost_unknown: bool
    unknown: int = 0
