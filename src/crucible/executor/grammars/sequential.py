"""SEQUENTIAL: one draft goes from seat to seat, and the red team attacks it between any two of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from crucible.executor.council import LoopOutcome, Seat, SeatedCouncil
from crucible.red_team.prompts import critique_draft
from llm_runtime.messages import Message
from llm_runtime.prompts import Fence, load_prompt


@dataclass(slots=True)
class _Draft:
    """The text on its way round the table, who wrote this version, and the latest critique of it."""

    text: str = ""
    author: str = ""
    critique: str = ""


async def sequential_loop(council: SeatedCouncil, loop: int, prior: LoopOutcome | None) -> LoopOutcome:
    """Run one loop: each seat writes the next version; a critique after each but the last, then the final one.

    A loop after the first starts from the last draft and its critique. A seat that fails is passed over: the
    next one takes up the same draft.
    """
    draft = _handed_over(prior)
    versions: dict[Seat, str] = {}
    critiques: list[str] = []
    for seat in council.deliberating:
        drafts = await council.hear(loop, "draft", [seat], _composer(council.query, draft))
        if seat in drafts:
            versions |= drafts
            draft.text, draft.author = drafts[seat], seat.label
            if seat != council.deliberating[-1]:
                critiques.append(await _attack(council, loop, draft, len(critiques) + 1))
    critiques.append(await _attack(council, loop, draft, len(critiques) + 1, final=True))
    return LoopOutcome(versions, tuple(critiques))


def _handed_over(prior: LoopOutcome | None) -> _Draft:
    if prior is None:
        return _Draft()
    seat, text = list(prior.positions.items())[-1]
    return _Draft(text, seat.label, prior.critique)


async def _attack(council: SeatedCouncil, loop: int, draft: _Draft, step: int, *, final: bool = False) -> str:
    def task(fence: Fence) -> str:
        return critique_draft(council.query, draft.author, draft.text, fence, final=final)

    draft.critique = await council.critique(loop, task, step=step)
    return draft.critique


def _composer(query: str, draft: _Draft) -> Callable[[Seat, Fence], Sequence[Message]]:
    def compose(seat: Seat, fence: Fence) -> Sequence[Message]:
        if not draft.text:
            return [Message("user", query)]
        task = load_prompt("crucible.executor.grammars", "draft").render(
            query=fence("QUESTION", query),
            draft=fence("CURRENT DRAFT", draft.text),
            critique=fence("RED TEAM CRITIQUE", draft.critique),
        )
        return [Message("user", task)]

    return compose
