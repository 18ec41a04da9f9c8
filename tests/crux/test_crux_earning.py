"""What the judge of a concession is shown: of the speaker's own words those alone that stood before the claim."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from crux import Persona
from llm_runtime.messages import Request


@pytest.mark.parametrize("named", [0, 1, -1], ids=["the first", "the second", "the last"])
async def test_own_words_count_as_held_before_where_they_were_said_before_the_claim_that_is_named(
    authors: list[Persona], hold: Callable[..., Awaitable[Any]], scripts: Any, named: int
) -> None:
    references: list[str] = []

    def exchange(request: Request) -> str:
        if scripts.letter(request) == "A" or request.label.round < 6:
            return str(scripts.speak(request))
        said = scripts.block(request, "WHAT WAS SAID").split("\n")
        references.append([line.split('"')[3] for line in said if '"Speaker A"' in line][named])
        return str(scripts.turn("YES: moved.", "So it is.", updated=True, because="counts", claim_ref=references[-1]))

    held = await hold(authors, aspects=2, script={"room_exchange": exchange}, rooms_per_aspect=1)
    shown = scripts.block(held.model.asked("earned")[0], "OWN EARLIER WORDS")
    own = [line for line in shown.split("\n") if not line.startswith("on record: ")]
    said = [*held.result.messages, *held.result.room_messages]
    assert own and set(own) == {
        message.text for message in said if " of B: " in message.text and int(message.id[1:]) < int(references[0][1:])
    }
