"""DEBATE: positions, an attack on the weakest of them, and a defence by those attacked.

There is no vote and no majority; what stays open is resolved in the synthesis.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import partial

from crucible.executor.council import Seat, SeatedCouncil
from crucible.executor.grammars.parallel import state_positions
from crucible.red_team.prompts import critique_targets
from crucible.transcript import Loop
from llm_runtime.messages import Message
from llm_runtime.prompts import Fence, load_prompt

_DECORATION = " \t*_`#>-"


async def debate_loop(council: SeatedCouncil, loop: Loop, prior: Loop | None) -> None:
    """Run one loop: positions as in PARALLEL, a critique that names its targets, their defence.

    Who is not targeted, or fails to defend, keeps its position.
    """
    await state_positions(council, loop, prior)
    seats = [seat for seat in council.deliberating if seat.label in loop.positions]
    attack = partial(critique_targets, council.query, loop.positions)
    await council.critique(loop.number, attack, targets_in=lambda text: read_targets(text, seats))

    def compose(seat: Seat, fence: Fence) -> Sequence[Message]:
        own, attack = fence("YOUR OWN POSITION", loop.positions[seat.label]), fence("RED TEAM ATTACK", loop.critique)
        defence = load_prompt("crucible.executor.grammars", "defence")
        return [Message("user", defence.render(seat=seat.label, position=own, attack=attack))]

    await council.hear(loop.number, "defence", read_targets(loop.critique, seats) or seats, compose)


def read_targets(critique: str, seats: Iterable[Seat]) -> list[Seat]:
    """Return the seats that the critique's last line, ``TARGETS: 0:pragmatist, 2:creative``, names, in seat order.

    Emphasis around the line and its labels is overlooked. A line that is missing, empty, or names anyone who
    is not in ``seats`` is no line at all: the list is empty.
    """
    by_name = {seat.label: seat for seat in seats}
    lines = [bare for line in critique.splitlines() if (bare := line.strip(_DECORATION))]
    head, _, names = (lines[-1] if lines else "").partition(":")
    if head.strip(_DECORATION).upper() != "TARGETS":
        return []
    wanted = {name.strip(_DECORATION + ".[]").lower() for name in re.split(r"[,;]", names)}
    if not wanted <= by_name.keys():
        return []
    return [seat for label, seat in by_name.items() if label in wanted]
