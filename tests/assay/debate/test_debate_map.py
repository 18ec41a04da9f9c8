"""The map of several debates: how often one comes to the cruxes of another."""

from __future__ import annotations

from io import StringIO

from assay.protocols.crux.report.insight import map_story
from assay.report.terminal import print_story
from crux.results import CruxCard, DebateResult, PersonaPosition


def debate(key: str, *questions: str) -> DebateResult:
    sides = {
        "Ann": PersonaPosition(position="YES", reasoning="Because."),
        "Bob": PersonaPosition(position="NO", reasoning="Because not."),
    }
    cards = [
        CruxCard(
            id=f"{key}{place}",
            question=question,
            disagreement_type="premise",
            diagnosis="Why.",
            resolved=False,
            personas=sides,
            source_aspect="a1",
            source_messages=(),
            crux_room_id="room-1",
            timestamp=0,
        )
        for place, question in enumerate(questions)
    ]
    return DebateResult(debate_id=key, topic="T", personas=("Ann", "Bob"), seed=0, state="finished", cards=tuple(cards))


def test_the_map_says_how_often_a_crux_comes_back() -> None:
    shown = StringIO()
    print_story(map_story([debate("a", "Is it so?", "Why now?"), debate("b", "Is it so?")]), shown, whole=True)
    text = " ".join(shown.getvalue().split())
    assert "2 of 3 cards ask what a card of the other asks (95% interval 21% to 94%)" in text
