"""PARALLEL: everyone answers at once, the red team attacks all of it, everyone revises."""

from __future__ import annotations

from collections.abc import Sequence

from crucible.executor.council import Seat, SeatedCouncil
from crucible.red_team.prompts import critique_positions
from crucible.transcript import Loop
from llm_runtime.messages import Message
from llm_runtime.prompts import Fence, load_prompt


async def parallel_loop(council: SeatedCouncil, loop: Loop, prior: Loop | None) -> None:
    """Run one loop: positions, then one critique of them all."""
    await state_positions(council, loop, prior)
    await council.critique(loop.number, lambda fence: critique_positions(council.query, loop.positions, fence))


async def state_positions(council: SeatedCouncil, loop: Loop, prior: Loop | None) -> None:
    """Ask every deliberating seat for its position at the same time."""

    def compose(seat: Seat, fence: Fence) -> Sequence[Message]:
        question = Message("user", council.query)
        return [question] if prior is None else [question, *revision(seat, prior, fence)]

    await council.hear(loop.number, "position", council.deliberating, compose)


def revision(seat: Seat, prior: Loop, fence: Fence) -> Sequence[Message]:
    """Return all prior positions, the seat's own marked; then the critique and what to do with it."""
    positions = "\n\n".join(
        fence(f"{'YOUR OWN POSITION' if other == seat.label else 'POSITION of'} {other}", text)
        for other, text in prior.positions.items()
    )
    task = load_prompt("crucible.executor.grammars", "revision").render(
        seat=seat.label, critique=fence("RED TEAM CRITIQUE", prior.critique)
    )
    return [Message("assistant", positions), Message("user", task)]
