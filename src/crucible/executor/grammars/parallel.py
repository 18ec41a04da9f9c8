"""PARALLEL: everyone answers at once, the red team attacks all of it, everyone revises."""

from __future__ import annotations

from collections.abc import Sequence

from crucible.executor.council import LoopOutcome, Seat, SeatedCouncil
from crucible.red_team.prompts import critique_positions
from llm_runtime.messages import Message
from llm_runtime.prompts import Fence, load_prompt


async def parallel_loop(council: SeatedCouncil, loop: int, prior: LoopOutcome | None) -> LoopOutcome:
    """Run one loop: positions, then one critique of them all."""
    positions = await state_positions(council, loop, prior)
    critique = await council.critique(
        loop, lambda fence: critique_positions(council.query, by_label(positions), fence)
    )
    return LoopOutcome(positions, (critique,))


async def state_positions(council: SeatedCouncil, loop: int, prior: LoopOutcome | None) -> dict[Seat, str]:
    """Ask every deliberating seat for its position at the same time; seats that failed are missing."""

    def compose(seat: Seat, fence: Fence) -> Sequence[Message]:
        question = Message("user", council.query)
        return [question] if prior is None else [question, *revision(seat, prior, fence)]

    return await council.hear(loop, "position", council.deliberating, compose)


def revision(seat: Seat, prior: LoopOutcome, fence: Fence) -> Sequence[Message]:
    """Return all prior positions, the seat's own marked; then the critique and what to do with it."""
    positions = "\n\n".join(
        fence(f"{'YOUR OWN POSITION' if other == seat else 'POSITION of'} {other.label}", text)
        for other, text in prior.positions.items()
    )
    task = load_prompt("crucible.executor.grammars", "revision").render(
        seat=seat.label, critique=fence("RED TEAM CRITIQUE", prior.critique)
    )
    return [Message("assistant", positions), Message("user", task)]


def by_label(positions: dict[Seat, str]) -> dict[str, str]:
    """Return positions as the red team sees them."""
    return {seat.label: text for seat, text in positions.items()}
