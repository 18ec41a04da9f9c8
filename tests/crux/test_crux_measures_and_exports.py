"""What is measured, what is shown over several debates, and what leaves in other forms."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from crux import Persona
from crux.exports.aif import to_aif
from crux.exports.argdown import to_argdown
from crux.exports.tables import stances_csv
from crux.exports.whole import to_json
from crux.insight.alignment import alignment_map
from crux.insight.crux_graph import Ties, worded
from crux.insight.timeline import shift_timeline
from crux.measurement.debate_quality import debate_quality
from crux.measurement.recurrence import recurrence
from crux.measurement.share import share
from crux.results import CruxCard, DebateResult, PersonaPosition
from llm_runtime.messages import Request

Hold = Callable[..., Awaitable[Any]]


def card(key: str, question: str, kind: Any = "premise", first: Any = "YES", second: Any = "NO") -> CruxCard:
    return CruxCard(
        id=key,
        question=question,
        disagreement_type=kind,
        diagnosis="Why.",
        resolved=False,
        personas={
            "Ann": PersonaPosition(position=first, reasoning="Because."),
            "Bob": PersonaPosition(position=second, reasoning="Because not."),
        },
        source_aspect="a1",
        source_messages=(),
        crux_room_id="room-1",
        timestamp=0,
    )


def debate(key: str, *cards: CruxCard) -> DebateResult:
    return DebateResult(debate_id=key, topic="T", personas=("Ann", "Bob"), seed=0, state="finished", cards=cards)


# --- measures


async def test_what_a_debate_shows_of_itself(authors: list[Persona], hold: Hold) -> None:
    found = debate_quality((await hold(authors, baselines=True)).result)
    assert found.shift_rate.value == 0.0 and found.sycophancy.rate == 0.0
    assert found.line_to_line.value == 1.0 and found.unexplained == ()
    assert json.loads(found.model_dump_json())["lineToLine"]["low"] > 0.4


async def test_a_silent_change_of_label_breaks_the_line(authors: list[Persona], hold: Hold, scripts: Any) -> None:
    def closing(request: Request) -> str:
        return str(scripts.turn("NO: as ever.")) if scripts.letter(request) == "A" else str(scripts.speak(request))

    held = await hold(authors, script={"closing": closing})
    found = debate_quality(held.result)
    assert found.unexplained == (held.result.shifts[0].closing,)
    assert found.shift_rate.hits == 1 and found.earned_shifts.hits == 0


def test_shares_carry_wilson_intervals() -> None:
    found = share([True] * 8 + [False] * 2)
    assert (
        found.value == 0.8
        and found.low == pytest.approx(0.4902, abs=1e-4)
        and found.high == pytest.approx(0.9433, abs=1e-4)
    )
    assert share([]).value is None


def test_recurrence_counts_what_asks_the_same() -> None:
    first = [card("1", "Does the toll reveal who needs the bridge?")]
    paraphrase = [card("2", "Does whoever pays show by it a need to cross?")]
    negation = [card("3", "Does the toll not reveal who needs the bridge?")]
    ties: Ties = {frozenset(worded(one[0].question) for one in (first, paraphrase)): "same"}
    assert recurrence([first, paraphrase], ties).value == 1.0
    assert recurrence([first, negation], ties).value == 0.0
    assert recurrence([first, first], {}).value == 1.0


# --- over several debates


def test_the_alignment_map_is_a_matrix_of_pairs() -> None:
    cards = [
        card("1", "Is it so?", "premise"),
        card("2", "Is it owed?", "values"),
        card("3", "Is it meant?", "values", "YES", "YES"),
        card("4", "May it be?", "values", "NUANCED", "NO"),
    ]
    (pair,) = alignment_map(cards)
    assert (pair.agree, pair.oppose, pair.differ, pair.mostly) == (1, 2, 1, "values")
    assert alignment_map([]) == ()


async def test_the_timeline_tells_moves_from_stays(authors: list[Persona], hold: Hold, scripts: Any) -> None:
    def late(request: Request) -> str:
        if scripts.letter(request) == "B" and request.label.round == 6:
            said = scripts.block(request, "WHAT WAS SAID").split("\n")
            key_ = json.loads(said[-1])["id"]
            return str(
                scripts.turn("YES: moved.", "Moved.", updated=True, because="the counts and kitchens", claim_ref=key_)
            )
        return str(scripts.speak(request))

    held = await hold(authors, aspects=2, script={"room_exchange": late})
    points = shift_timeline(held.result)
    moved = [point for point in points if point.entry and point.entry.earned]
    assert moved and all(point.stance.persona == "Ilario Fennimast" and point.room for point in moved)
    assert [point.step for point in points] == list(range(len(points)))


# --- exports

HOSTILE = "<script>alert(1)</script> [x](javascript:alert(1)) | `# *=SUM(A1)"


async def test_exports(authors: list[Persona], hold: Hold, scripts: Any) -> None:
    def hostile(request: Request) -> str:
        return str(scripts.turn(f"{scripts.stance_of(request)}: {HOSTILE}", HOSTILE))

    def card_(request: Request) -> str:
        answer = json.loads(scripts.card(request))
        answer["question"] = f"Is it so? {HOSTILE}"
        return json.dumps(answer)

    held = await hold(authors, aspects=2, script={"take": hostile, "card": card_})
    result = held.result

    assert DebateResult.model_validate_json(to_json(result)) == result

    assert result.cards[0].personas["Maud Tarrowby"].grounding_quotes

    argdown = to_argdown(result.model_copy(update={"topic": '"Fast" is bad?'}))
    assert 'title: "Fast is bad?"' in argdown.splitlines()
    assert argdown.count("[Crux ") == 2 and "<script>" not in argdown
    assert "  + <Maud Tarrowby 1>" in argdown and "  - <Ilario Fennimast 1>" in argdown

    aif = json.loads(to_aif(result))
    ids = {node["nodeID"] for node in aif["nodes"]}
    assert all(edge["fromID"] in ids and edge["toID"] in ids for edge in aif["edges"])
    assert {node["type"] for node in aif["nodes"]} == {"I", "L", "YA", "RA", "CA"}

    rows = list(csv.DictReader(io.StringIO(stances_csv(result))))
    assert len(rows) == len(result.stances)
    assert not any(value[:1] in "=+-@" for row in rows for value in row.values() if value)
