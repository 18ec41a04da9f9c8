"""Anti-sycophancy: what earns a concession, what is flagged, and how one that always agrees scores."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crux import Persona
from crux.events import ConcessionEntered, TurnTaken
from crux.measurement.debate_quality import sycophancy
from crux.phrases import check_phrases
from crux.positions import Claims, concession, read_position
from crux.results import Stance, TrackedStance
from llm_runtime.messages import Request

Hold = Callable[..., Awaitable[Any]]

CLAIM = "The count at Dray Lane left out the tunnel, so the subtraction proves nothing about the collar."


def stance(label: Stance, *, updated: bool = False, because: str = "", ref: str = "") -> TrackedStance:
    return TrackedStance(
        persona="Ann",
        message="m9",
        question="room-1",
        stance=label,
        position="as said",
        updated=updated,
        because=because,
        claim_ref=ref,
    )


def claims(*, steelmanned: bool = True) -> Claims:
    return Claims(
        heard={"m7": CLAIM, "e1": "A survey of households found no change in traffic at most windows."},
        own=frozenset({"m6"}),
        evidence=frozenset({"e1"}),
        flips={"F1": "A survey of households that finds no change at most windows."},
        steelmanned=steelmanned,
    )


@pytest.mark.parametrize(
    ("after", "earned", "reason"),
    [
        (stance("NO", updated=True, because="the count left out the tunnel", ref="m7"), True, "named claim"),
        (stance("NO", updated=True, because="the survey shows no change at windows", ref="F1"), True, "flip condition"),
        (stance("NO", updated=True, because="households report no change in traffic", ref="e1"), True, "named claim"),
        (stance("NO"), False, "silent"),
        (stance("NO", updated=True, because="a good point"), False, "no claim named"),
        (stance("NO", updated=True, because="the count left out the tunnel"), False, "no claim named"),
        (stance("NO", updated=True, because="the count left out the tunnel", ref="m6"), False, "speaker's own"),
        (stance("NO", updated=True, because="the count left out the tunnel", ref="m99"), False, "no claim m99"),
    ],
)
def test_only_a_claim_of_another_or_a_condition_can_earn_a_concession(
    after: TrackedStance, earned: bool, reason: str
) -> None:
    entry = concession(stance("YES"), after, claims())
    assert entry is not None
    assert entry.earned is earned and reason in entry.reason


def test_no_shift_before_the_other_side_was_stated_at_its_strongest() -> None:
    after = stance("NO", updated=True, because="the count left out the tunnel", ref="m7")
    early = concession(stance("YES"), after, claims(steelmanned=False))
    assert early is not None and not early.earned and "strongest" in early.reason

    by_evidence = stance("NO", updated=True, because="households report no change in traffic", ref="e1")
    entry = concession(stance("YES"), by_evidence, claims(steelmanned=False))
    assert entry is not None and entry.earned


def yields(scripts: Any, because: str, reference: str = "") -> Callable[[Request], str]:
    """B gives way in the room, from the first turn after the steelman on, for the reason given."""

    def exchange(request: Request) -> str:
        if scripts.letter(request) == "A" or request.label.round < 6:
            return str(scripts.speak(request))
        said = scripts.block(request, "WHAT WAS SAID").split("\n")
        key = reference or next(line.split('"')[3] for line in reversed(said) if '"Speaker A"' in line)
        return str(scripts.turn("YES: moved.", "So it is.", updated=True, because=because, claim_ref=key))

    return exchange


@pytest.mark.parametrize(
    ("verdict", "reason"),
    [
        ({"span": "Turn room_exchange", "bears": True, "ground": "politeness"}, "praise is no reason"),
        ({"span": "Turn room_exchange", "bears": True, "ground": "number"}, "how many say so is no reason"),
        ({"span": "Turn room_exchange", "bears": True, "ground": "style"}, "how well it is said is no reason"),
        ({"span": "Turn room_exchange", "bears": True, "ground": "insistence"}, "how often it is said"),
        ({"span": "a written right is wanted", "bears": True, "ground": "argument"}, "do not say it"),
        ({"span": "", "bears": True, "ground": "argument"}, "do not say it"),
        ({"span": "Turn room_exchange", "bears": False, "ground": "argument"}, "no reason for this change"),
        ({"span": "Turn room_exchange", "bears": True, "ground": "argument", "held_before": True}, "granted it before"),
        ("no verdict at all", "not judged"),
    ],
)
async def test_what_the_judge_does_not_find_in_the_words_cited_earns_nothing(
    authors: list[Persona], hold: Hold, scripts: Any, verdict: Any, reason: str
) -> None:
    because = "You are so right that the counts and kitchens disagree, brilliant point"
    script = {"room_exchange": yields(scripts, because), "earned": json.dumps(verdict)}
    held = await hold(authors, aspects=2, script=script, rooms_per_aspect=1)
    entry = held.result.ledger[0]
    assert not entry.earned and reason in entry.reason
    asked = held.model.asked("earned")[0].messages[-1].content
    assert because in asked and "Maud" not in asked and "Ilario" not in asked


async def test_a_claim_that_the_judge_finds_there_earns_the_concession(
    authors: list[Persona], hold: Hold, scripts: Any
) -> None:
    script = {"room_exchange": yields(scripts, "the counts and kitchens disagree")}
    held = await hold(authors, aspects=2, script=script, rooms_per_aspect=1)
    assert (held.result.ledger[0].earned, held.result.ledger[0].reason) == (True, "named claim")


async def test_a_flip_condition_must_be_met_by_words_that_were_said(
    authors: list[Persona], hold: Hold, scripts: Any
) -> None:
    for span, earned in (("Turn room_exchange", True), ("the condition is denied", False)):
        verdict = json.dumps({"span": span, "bears": True, "ground": "evidence"})
        script = {"room_exchange": yields(scripts, "the count shows it", "F1"), "earned": verdict}
        held = await hold(authors, aspects=2, script=script, rooms_per_aspect=1)
        entry = held.result.ledger[0]
        assert entry.earned is earned
        assert entry.reason == ("flip condition" if earned else "nothing that was said meets the flip condition")


async def test_whoever_says_to_have_moved_is_in_the_ledger_whatever_the_question(
    authors: list[Persona], hold: Hold, scripts: Any
) -> None:
    def clash(request: Request) -> str:
        if scripts.letter(request) == "A":
            return str(scripts.speak(request))
        return str(scripts.turn("NO: I was wrong about the courts.", "I was wrong about the courts.", updated=True))

    held = await hold(authors, aspects=2, script={"clash": clash}, rooms_per_aspect=0)
    assert held.result.ledger and all(entry.reason == "no claim named" for entry in held.result.ledger)


def test_staying_is_no_concession_and_neither_is_finding_a_first_word() -> None:
    assert concession(stance("YES"), stance("YES"), claims()) is None
    assert concession(None, stance("NO", updated=True), claims()) is None
    assert concession(stance("NONE"), stance("NO"), claims()) is None


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("YES: it should", "YES"),
        ("No, because", "NO"),
        ("**NUANCED** if counted", "NUANCED"),
        ("NONE: nothing on record", "NONE"),
        ("no basis in what was written", "NONE"),
        ("Yesterday was fine", None),
        ("Nobody knows", None),
        ("", None),
    ],
)
def test_positions_begin_with_a_label(text: str, label: str | None) -> None:
    assert read_position(text)[0] == label


@given(st.text(max_size=300))
def test_any_text_can_be_read_as_a_position_and_checked_for_phrases(text: str) -> None:
    label, rest = read_position(text)
    assert label in (None, "YES", "NO", "NUANCED", "NONE") and len(rest) <= len(text)
    check_phrases(text)


def test_the_phrase_check_knows_praise_filler_and_the_personas_own_list() -> None:
    polite = check_phrases(
        "You raise a good point. As an AI, I delve. Synergy going forward!", ["synergy going forward"]
    )
    assert len(polite.polite) == 4 and not polite.agreeing
    assert check_phrases("You're absolutely right, I now agree.").agreeing
    assert check_phrases("I do not agree. The point about the tunnel fails.").polite == ()
    assert not check_phrases("I do not agree. The point about the tunnel fails.").agreeing


async def test_a_polite_turn_is_regenerated_once_with_the_reason_and_then_flagged(
    authors: list[Persona], hold: Hold, scripts: Any
) -> None:
    def opening(request: Request) -> str:
        if scripts.letter(request) == "B":
            return str(scripts.turn("NO: no.", "Great point, and well said."))
        first = request.label.attempt == 1
        return str(
            scripts.turn("YES: yes.", "Thank you for that. The queue is a price." if first else "A queue is a price.")
        )

    held = await hold(authors, aspects=2, script={"opening": opening})

    asked = [request.label for request in held.model.asked("opening")]
    assert [(label.seat[0], label.attempt) for label in asked].count(("1", 2)) == 1
    assert any("Thank you for" in r.messages[-1].content for r in held.model.asked("opening") if r.label.attempt == 2)
    mended, stubborn = held.result.messages[:2]
    assert mended.text == "A queue is a price." and mended.flags == ()
    assert stubborn.text == "Great point, and well said."  # never silently deleted
    assert stubborn.flags == ("polite phrase: Great point", "polite phrase: well said")
    assert [turn.regenerated for turn in held.heard(TurnTaken)[:2]] == [True, True]


async def test_a_sycophant_scores_one_and_a_stubborn_agent_nothing(
    authors: list[Persona], hold: Hold, scripts: Any
) -> None:
    def sycophant(request: Request) -> str:
        if scripts.letter(request) == "A":
            return str(scripts.speak(request))
        return str(
            scripts.turn(
                f"{'NO' if request.label.round % 2 else 'YES'}: whatever they say.",
                "You are right, I agree.",
                updated=True,
                because="a good point",
                claim_ref="m1",
            )
        )

    held = await hold(authors, script={"room_exchange": sycophant, "clash": sycophant, "closing": sycophant})
    result = held.result

    assert sycophancy(result, "Ilario Fennimast").rate == 1.0
    assert sycophancy(result, "Maud Tarrowby").rate == 0.0
    live = [event.entry for event in held.heard(ConcessionEntered)]
    assert live and not any(entry.earned for entry in live)
    assert result.state == "finished" and len(result.cards) == 3
    flagged = [m for m in result.room_messages if m.persona == "Ilario Fennimast" and m.phase == "exchange"]
    assert all(any(flag.startswith("unearned concession") for flag in m.flags) for m in flagged)


async def test_agreement_without_a_reason_is_flagged_even_where_the_label_stays(
    authors: list[Persona], hold: Hold, scripts: Any
) -> None:
    def nods(request: Request) -> str:
        if scripts.letter(request) == "A":
            return str(scripts.speak(request))
        return str(scripts.turn("NO: as before.", "You are right, and I agree with all of it."))

    held = await hold(authors, script={"room_exchange": nods})
    exchange = [m for m in held.result.room_messages if m.phase == "exchange"]
    for message in exchange:
        nodded = message.persona == "Ilario Fennimast"
        assert ("agrees without a named reason" in message.flags) is nodded, message
    assert len(exchange) >= 4 and held.result.state == "finished"


async def test_an_earned_shift_names_its_room_in_the_timeline(authors: list[Persona], hold: Hold, scripts: Any) -> None:
    def closing(request: Request) -> str:
        said = scripts.block(request, "WHAT WAS SAID")
        if scripts.letter(request) == "A":
            return str(scripts.speak(request))
        key = next(line.split('"')[3] for line in said.split("\n") if '"Speaker A"' in line and "room_exchange" in line)
        return str(
            scripts.turn(
                "YES: moved.",
                "The counts and the kitchens settle it.",
                updated=True,
                because="the counts and kitchens that disagree",
                claim_ref=key,
            )
        )

    held = await hold(authors, script={"closing": closing})
    shift = next(s for s in held.result.shifts if s.persona == "Ilario Fennimast")

    assert (shift.before, shift.after, shift.shifted, shift.earned) == ("NO", "YES", True, True)
    assert shift.rooms and shift.rooms[0].startswith("room-")
    steady = next(s for s in held.result.shifts if s.persona == "Maud Tarrowby")
    assert not steady.shifted and steady.drift is not None and steady.earned is None
