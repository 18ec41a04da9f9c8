"""SEQUENTIAL: one draft goes from seat to seat, and the red team attacks it between any two of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from crucible.executor.council import Seat, SeatedCouncil
from crucible.red_team.prompts import critique_draft
from crucible.transcript import Loop
from llm_runtime.messages import Message
from llm_runtime.prompts import Fence, load_prompt


async def sequential_loop(council: SeatedCouncil, loop: Loop, prior: Loop | None) -> None:
    """Run one loop: each seat writes the next version; a critique after each but the last, then the final one.

    A loop after the first starts from the last draft and its critique. A seat that fails is passed over: the
    next one takes up the same draft.
    """
    for seat in council.deliberating:
        await council.hear(loop.number, "draft", [seat], _composer(council.query, loop if loop.answers else prior))
        if seat.label in loop.positions and seat != council.deliberating[-1]:
            await _attack(council, loop)
    await _attack(council, loop, final=True)


async def _attack(council: SeatedCouncil, loop: Loop, *, final: bool = False) -> None:
    author, text = list(loop.positions.items())[-1]

    def task(fence: Fence) -> str:
        return critique_draft(council.query, author, text, fence, final=final)

    await council.critique(loop.number, task, step=len(loop.critiques) + 1)


def _composer(query: str, before: Loop | None) -> Callable[[Seat, Fence], Sequence[Message]]:
    def compose(seat: Seat, fence: Fence) -> Sequence[Message]:
        if before is None:
            return [Message("user", query)]
        draft = fence("CURRENT DRAFT", list(before.positions.values())[-1])
        task = load_prompt("crucible.executor.grammars", "draft").render(
            query=fence("QUESTION", query), draft=draft, critique=fence("RED TEAM CRITIQUE", before.critique)
        )
        return [Message("user", task)]

    return compose
