"""A whole debate between the two shipped authors, step by step as the specification draws it."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import pytest

from crux import ChosenModel, CruxConfigurationError, DebateConfig, ModelTable, Persona
from crux.estimate import estimate
from crux.events import DebateEnded, Posted, RoundSummarised, TurnTaken
from llm_runtime.messages import Request
from llm_runtime.price import Price

Hold = Callable[..., Awaitable[Any]]


async def test_a_debate_runs_from_topic_to_cards(authors: list[Persona], hold: Hold) -> None:
    held = await hold(authors)

    assert held.result.state == "finished"
    assert len(held.result.cards) == 3
    for card in held.result.cards:
        for name, side in card.personas.items():
            persona = next(p for p in authors if p.name == name)
            assert side.grounding_quotes
            assert all(persona.corpus.find(quote) for quote in side.grounding_quotes)


async def test_the_events_are_those_of_section_6_1_in_their_order(authors: list[Persona], hold: Hold) -> None:
    held = await hold(authors, aspects=2, exchange_turns=(2, 4))

    turns = ["crux_message"] * 8
    one_round = [
        "round_start",
        *["message_posted"] * 2,
        "disagreement_detected",
        "clash_start",
        *["message_posted"] * 4,
        "disagreement_detected",
        "crux_room_spawning",
        *turns,
        "crux_card_posted",
        "crux_room_complete",
        "round_end",
    ]
    opening = ["debate_start", *["message_posted"] * 2]
    assert held.types() == [*opening, *one_round, *one_round, *["message_posted"] * 2, "debate_complete"]


async def test_wire_events_have_exactly_the_keys_of_the_specification(authors: list[Persona], hold: Hold) -> None:
    held = await hold(authors)
    keys = {event.type: set(event.model_dump()) - {"type"} for event in held.wire}

    assert keys == {
        "debate_start": {"topic", "aspects", "personas"},
        "debate_complete": {"shifts"},
        "round_start": {"aspect", "roundNumber"},
        "round_end": {"aspect"},
        "message_posted": {"message", "phase"},
        "clash_start": {"personas", "aspect"},
        "crux_room_spawning": {"roomId", "question", "personas"},
        "crux_message": {"roomId", "message"},
        "crux_card_posted": {"card"},
        "crux_room_complete": {"roomId"},
        "disagreement_detected": {"candidate"},
    }
    card = held.of("crux_card_posted")[0].model_dump()["card"]
    assert set(card) == {
        *("id", "question", "disagreementType", "diagnosis", "resolved", "resolution", "personas"),
        *("sourceAspect", "sourceMessages", "cruxRoomId", "timestamp"),
    }
    side = card["personas"]["Maud Tarrowby"]
    assert set(side) == {"position", "reasoning", "falsifier", "groundingQuotes", "messages"}
    candidate = held.of("disagreement_detected")[0].model_dump()["candidate"]
    assert set(candidate) == {"has_direct_opposition", "has_specific_claim", "topic_relevant", "personas", "claim"}


async def test_the_log_holds_every_wire_event_and_the_final_state(authors: list[Persona], hold: Hold) -> None:
    held = await hold(authors, aspects=2)

    assert [posted.event for posted in held.heard(Posted)] == held.wire
    ended = held.heard(DebateEnded)[-1]
    assert ended.state == "finished" and len(ended.result.cards) == 2


async def test_turns_of_a_round_do_not_see_each_other(authors: list[Persona], hold: Hold, scripts: Any) -> None:
    held = await hold(authors, aspects=2)

    for phase in ("opening", "take", "room_position", "room_convergence"):
        for request in held.model.asked(phase):
            said = [json.loads(line) for line in scripts.block(request, "WHAT WAS SAID").split("\n") if line]
            beside = f"Turn {phase} {request.label.round} of"
            assert not any(beside in line["said"] for line in said if line["speaker"] != "You")


async def test_a_room_has_three_phases_and_steelmans_after_the_fourth_exchange(
    authors: list[Persona], hold: Hold
) -> None:
    held = await hold(authors, aspects=2)
    room = [event.message for event in held.of("crux_message") if event.room_id == "room-1"]

    assert Counter(message.phase for message in room) == {"position": 2, "exchange": 8, "convergence": 2}
    late = [r.label.round for r in held.model.asked("room_exchange") if "would sign it" in r.messages[-1].content]
    assert sorted(set(late)) == [5, 6, 7, 8]
    assert [message.turn for message in room] == list(range(1, 13))
    first, second = (message.persona for message in room if message.phase == "position")
    assert [message.persona for message in room if message.phase == "exchange"] == [first, second] * 4


async def test_the_exit_check_only_moves_a_room_to_convergence(authors: list[Persona], hold: Hold) -> None:
    held = await hold(authors, aspects=2, script={"exit_check": '{"exit": true}'})
    room = [event.message.phase for event in held.of("crux_message") if event.room_id == "room-1"]

    assert room == ["position"] * 2 + ["exchange"] * 4 + ["convergence"] * 2
    assert [r.label.round for r in held.model.asked("exit_check") if r.label.seat == "room-1"] == [4]


async def test_a_short_room_keeps_its_last_two_turns_for_convergence(authors: list[Persona], hold: Hold) -> None:
    held = await hold(authors, aspects=2, room_turns=7)
    room = [event.message.phase for event in held.of("crux_message") if event.room_id == "room-1"]
    assert room == ["position"] * 2 + ["exchange"] * 3 + ["convergence"] * 2


@pytest.mark.parametrize(("exit_early", "turns"), [(False, 16), (True, 16)])
async def test_sides_that_name_different_things_go_on_and_never_beyond_sixteen_turns(
    authors: list[Persona], hold: Hold, exit_early: bool, turns: int
) -> None:
    held = await hold(
        authors,
        aspects=2,
        script={"convergence_judge": '{"same": false}', "exit_check": json.dumps({"exit": exit_early})},
    )
    room = [event for event in held.of("crux_message") if event.room_id == "room-1"]

    assert len(room) == turns
    assert held.result.cards[0].resolved is False


async def test_aspects_are_cut_or_asked_for_again_once(authors: list[Persona], hold: Hold, scripts: Any) -> None:
    cut = await hold(authors, aspects=2, script={"decomposition": scripts.aspects(5)})
    assert len(cut.result.aspects) == 2

    again = await hold(authors, script={"decomposition": [scripts.aspects(1), scripts.aspects(3)]})
    assert len(again.result.aspects) == 3
    assert len(again.model.asked("decomposition")) == 2


async def test_an_aspect_without_opposition_has_no_clash(authors: list[Persona], hold: Hold, scripts: Any) -> None:
    for detection in ('{"pairs": []}', scripts.pairs(("A", "B"), relevant=False)):
        held = await hold(authors, aspects=2, script={"detection": detection})
        assert not held.of("clash_start") and not held.of("crux_room_spawning")
        assert held.result.state == "finished"


async def test_a_clash_that_settles_it_opens_no_room(authors: list[Persona], hold: Hold, scripts: Any) -> None:
    def detect(request: Request) -> str:
        return '{"pairs": []}' if request.label.seat else str(scripts.pairs(("A", "B")))

    held = await hold(authors, aspects=2, script={"detection": detect})

    assert len(held.of("clash_start")) == 2
    assert not held.of("crux_room_spawning")


async def test_at_most_two_rooms_an_aspect_and_the_third_is_seen_to_wait(
    small_persona: Any, hold: Hold, scripts: Any
) -> None:
    panel = [
        await small_persona(name, f"{name} writes on traffic and on the list that binds the inspector at the door.")
        for name in ("Ann Ash", "Bob Birch", "Cat Cedar", "Dan Dogwood")
    ]

    def detect(request: Request) -> str:
        said = scripts.block(request, "WHAT WAS SAID")
        speakers = list(dict.fromkeys(json.loads(line)["speaker"][-1] for line in said.split("\n")))
        wanted = [("A", "B"), ("C", "D"), ("A", "D")] if len(speakers) == 4 else [tuple(speakers)]
        return str(scripts.pairs(*wanted))

    held = await hold(panel, aspects=2, script={"detection": detect}, exchange_turns=(2, 2))

    of_first = [event.candidate.queued for event in held.of("disagreement_detected")][:6]
    assert of_first == [None, True, None, True, None, False]
    assert len(held.result.cards) == 4


async def test_every_call_has_a_label_of_its_own(authors: list[Persona], hold: Hold) -> None:
    held = await hold(authors, flip_test=True, baselines=True)
    labels = Counter(str(request.label) for request in held.model.requests)
    assert labels.most_common(1)[0][1] == 1


async def test_the_model_table_is_section_2_10(authors: list[Persona], hold: Hold) -> None:
    table = ModelTable(fast=ChosenModel(id="small"), strong=ChosenModel(id="large"))
    held = await hold(authors, aspects=2, models=table)
    seen = {request.label.phase: (request.model, request.temperature) for request in held.model.requests}

    assert seen == {
        "decomposition": ("small", 0.3),
        "opening": ("large", 0.85),
        "take": ("large", 0.85),
        "clash": ("large", 0.8),
        "detection": ("small", 0.2),
        "room_position": ("large", 0.75),
        "room_exchange": ("large", 0.75),
        "room_convergence": ("large", 0.75),
        "exit_check": ("small", 0.2),
        "convergence_judge": ("small", 0.2),
        "card": ("large", 0.3),
        "summary": ("small", 0.3),
        "closing": ("large", 0.85),
        "judge": ("small", 0.0),
    }


async def test_a_model_that_refuses_a_temperature_gets_none(authors: list[Persona], hold: Hold) -> None:
    table = ModelTable(strong=ChosenModel(id="reasoner", takes_temperature=False))
    held = await hold(authors, aspects=2, models=table)
    assert {r.temperature for r in held.model.requests if r.model == "reasoner"} == {None}


async def test_a_panels_models_take_turns_to_speak_and_speak_only(authors: list[Persona], hold: Hold) -> None:
    panel = tuple(ChosenModel(id=name) for name in ("one", "two"))
    held = await hold(
        authors, models=ModelTable(fast=ChosenModel(id="small"), strong=ChosenModel(id="large"), panel=panel)
    )
    speaking = {"opening", "take", "clash", "closing", "room_position", "room_exchange", "room_convergence"}
    asked: dict[str, set[str]] = {"1": set(), "2": set(), "": set()}
    for request in held.model.requests:
        seat = request.label.seat.partition(":")[0] if request.label.phase in speaking else ""
        asked[seat].add(request.model)
    assert asked == {"1": {"one"}, "2": {"two"}, "": {"small", "large"}}


async def test_summaries_are_internal_and_carry_message_ids(authors: list[Persona], hold: Hold, scripts: Any) -> None:
    held = await hold(authors, aspects=2)

    assert held.heard(RoundSummarised)[0].messages == ["m3", "m4"]
    assert not any("Speaker A claimed the traffic ceased" in m.text for m in held.result.messages)
    later = [scripts.block(r, "EARLIER ROUNDS") for r in held.model.asked("closing")]
    assert all("claimed the traffic ceased" in block and "m3, m4" in block for block in later)


async def test_turns_say_which_beliefs_they_were_shown(authors: list[Persona], hold: Hold) -> None:
    held = await hold(authors, aspects=2)
    taken = held.heard(TurnTaken)
    by_name = {persona.name: persona for persona in authors}

    assert len(taken) == len(held.result.messages) + len(held.result.room_messages)
    assert all(turn.beliefs for turn in taken)
    for turn in taken:
        graph = by_name[turn.persona].beliefs
        assert graph is not None and set(turn.beliefs) <= set(graph.by_id)


def test_the_estimate_is_about_63_calls_and_the_judges_for_four_personas_and_three_aspects() -> None:
    told = estimate(4, price=lambda model: Price(3.0, 15.0) if "sonnet" in model else Price(1.0, 5.0))

    assert 68 <= told.calls <= 74  # the specification's 63, three second looks, and the judge's
    assert told.least < told.calls < told.most
    assert told.cost is not None and 400_000 <= told.cost <= 900_000  # the specification: about 0.55 USD
    assert estimate(4).cost is None


async def test_a_debate_takes_no_more_calls_than_the_estimate_allows(authors: list[Persona], hold: Hold) -> None:
    held = await hold(authors, flip_test=True, baselines=True)
    told = estimate(2, DebateConfig(flip_test=True, baselines=True))
    assert told.least <= held.result.spend.calls == len(held.model.requests) <= told.most


def test_what_cannot_be_a_debate_is_refused_before_anything_is_asked(authors: list[Persona], hold: Hold) -> None:
    from crux import Debate

    async def never(request: Request) -> Any:
        raise AssertionError("nothing may be asked")

    def refused(topic: str, personas: Sequence[Persona]) -> str:
        with pytest.raises(CruxConfigurationError) as caught:
            Debate(topic, personas, generate=never)
        return str(caught.value)

    assert "0 characters" in refused("  ", authors)
    assert "2 to 26 personas" in refused("A question?", authors[:1])
    assert "two personas have the name" in refused("A question?", [authors[0], authors[0]])
    with pytest.raises(CruxConfigurationError, match="aspects"):
        DebateConfig(aspects=5)
    with pytest.raises(CruxConfigurationError, match="rebuttals"):
        DebateConfig(rebuttals=(1, 4))


async def test_a_turn_is_shown_where_its_speaker_stands(authors: list[Persona], hold: Hold, scripts: Any) -> None:
    held = await hold(authors, aspects=2)

    assert not any(scripts.block(request, "YOUR POSITION SO FAR") for request in held.model.asked("opening"))
    for request in (*held.model.asked("take"), *held.model.asked("closing")):
        shown = json.loads(scripts.block(request, "YOUR POSITION SO FAR"))
        assert shown["answer"] == scripts.stance_of(request)
        assert shown["stated_in"] == ("m1" if scripts.letter(request) == "A" else "m2")


async def test_a_resolved_claim_is_open_no_longer(authors: list[Persona], hold: Hold, scripts: Any) -> None:
    def detect(request: Request) -> str:
        aspect = "1" if "Cordon make traffic cease" in scripts.block(request, "ASPECT") else "2"
        return str(scripts.pairs(("A", "B"), claim=f"whether claim number {aspect} holds"))

    def card(request: Request) -> str:
        answer = json.loads(scripts.card(request))
        if request.label.seat == "room-1":
            answer["resolved"] = True
            answer["sides"][1]["position"] = "YES"
        return json.dumps(answer)

    held = await hold(authors, aspects=2, script={"detection": detect, "card": card})

    assert [card.resolved for card in held.result.cards] == [True, False]
    for request in held.model.asked("closing"):
        assert scripts.block(request, "OPEN DISAGREEMENTS") == "- whether claim number 2 holds"
        assert '"resolved": true' in scripts.block(request, "CRUXES FOUND")
