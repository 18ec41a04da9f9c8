"""Crux cards: checked against what was said, written and tracked; the flip test; evidence and forks."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from crux import Debate, DebateConfig, Evidence, Persona
from crux.baselines import BaselineAnswer
from crux.card_changes import compare_cards
from crux.config import CruxConfigurationError
from crux.events import BaselineAnswered, CardNoted
from crux.provenance import texts_alone
from crux.quotes import find_quote, sentences
from crux.results import CardNotes, CruxCard, PersonaPosition, Place, SentenceSource
from llm_runtime.events import Event
from llm_runtime.messages import Request
from llm_runtime.replay import Recording
from llm_runtime.testing import ScriptedModel
from llm_runtime.wrappers.recording import recording
from llm_runtime.wrappers.replaying import replaying

Hold = Callable[..., Awaitable[Any]]
MAUD, ILARIO = "Maud Tarrowby", "Ilario Fennimast"


def changed(scripts: Any, change: Callable[[dict[str, Any]], None]) -> Callable[[Request], str]:
    """The plain card with something changed."""

    def card(request: Request) -> str:
        answer = json.loads(scripts.card(request))
        change(answer)
        return json.dumps(answer)

    return card


async def test_invented_quotations_are_dropped_and_counted(authors: list[Persona], hold: Hold) -> None:
    held = await hold(authors, aspects=2)

    assert [notes.dropped_quotes for notes in held.result.notes] == [2, 2]
    for card, notes in zip(held.result.cards, held.result.notes, strict=True):
        for name, side in card.personas.items():
            corpus = next(p for p in authors if p.name == name).corpus
            assert side.grounding_quotes == tuple(place.quote for place in notes.places[name])
            for place in notes.places[name]:
                assert corpus.by_id[place.item].text[place.start : place.end] == place.quote


async def test_a_quotation_of_the_other_person_does_not_count(authors: list[Persona], hold: Hold, scripts: Any) -> None:
    def swap(answer: dict[str, Any]) -> None:
        first, second = answer["sides"]
        first["quotes"], second["quotes"] = second["quotes"][:1], first["quotes"][:1]

    held = await hold(authors, aspects=2, script={"card": changed(scripts, swap)})
    assert all(side.grounding_quotes is None for card in held.result.cards for side in card.personas.values())


def test_quotations_match_but_for_white_space_and_marks() -> None:
    text = "He said:\n“I don’t   count it as\nevidence at all.” And left."
    span = find_quote('"I don\'t count it as evidence at all."', text)
    assert span is not None and text[span[0] : span[1]] == "“I don’t   count it as\nevidence at all.”"
    assert find_quote("I do count it as evidence at all.", text) is None
    assert find_quote("And left.", text) is None  # too short to prove anything
    assert sentences("Mr. Ash said one. Two! Three — and four? See no. 5.")[1:] == [
        "Two!",
        "Three — and four?",
        "See no. 5.",
    ]


async def test_a_label_that_contradicts_the_tracked_position_is_flagged(
    authors: list[Persona], hold: Hold, scripts: Any
) -> None:
    def turn_maud(answer: dict[str, Any]) -> None:
        answer["sides"][0]["position"] = "NO"

    held = await hold(authors, aspects=2, script={"card": changed(scripts, turn_maud)})
    assert f"the label of {MAUD} is NO; the last tracked position was YES" in held.result.notes[0].flags

    same = {"convergence_judge": '{"same": true, "opposite_wording": true}'}
    held = await hold(authors, aspects=2, script=same)  # B answers NO to the denial: YES to the card's question
    assert f"the label of {ILARIO} is NO; the last tracked position was YES" in held.result.notes[0].flags


async def test_resolved_needs_equal_answers_and_an_earned_concession(
    authors: list[Persona], hold: Hold, scripts: Any
) -> None:
    def say_resolved(answer: dict[str, Any]) -> None:
        answer["resolved"] = True

    held = await hold(authors, aspects=2, script={"card": changed(scripts, say_resolved)})
    assert held.result.cards[0].resolved is False
    assert "said to be resolved, and the sides do not answer alike" in held.result.notes[0].flags

    def both_yes(answer: dict[str, Any]) -> None:
        answer["resolved"] = True
        answer["sides"][1]["position"] = "YES"

    held = await hold(authors, aspects=2, script={"card": changed(scripts, both_yes)})
    assert held.result.cards[0].resolved is True
    assert "resolved without an earned concession" in held.result.notes[0].flags


async def test_nuanced_states_its_condition_or_is_asked_again(authors: list[Persona], hold: Hold, scripts: Any) -> None:
    def nuanced(answer: dict[str, Any]) -> None:
        answer["sides"][0] |= {"position": "NUANCED", "condition": ""}

    def settled(answer: dict[str, Any]) -> None:
        answer["sides"][0] |= {"position": "NUANCED", "condition": "It depends on the tunnel."}

    without, with_it = changed(scripts, nuanced), changed(scripts, settled)

    def card(request: Request) -> str:
        return without(request) if request.label.attempt == 1 else with_it(request)

    held = await hold(authors, aspects=2, script={"card": card})
    assert held.result.cards[0].personas[MAUD].condition == "It depends on the tunnel."
    assert len(held.model.asked("card")) == 4


SUPPORTED = "counts and kitchens disagree"


def bears_what_was_said(request: Request) -> str:
    """A judge for whom the words of the room bear a sentence that repeats them, and nothing bears any other."""
    verdicts: list[dict[str, Any]] = []
    for line in request.messages[-1].content.split("\n"):
        if line.startswith('{"pair"'):
            pair = json.loads(line)
            bears = SUPPORTED in pair["premise"] and SUPPORTED in pair["claim"]
            kind, span = ("supports", SUPPORTED) if bears else ("unrelated", "")
            verdicts.append({"pair": pair["pair"], "kind": kind, "span": span})
    return json.dumps({"verdicts": verdicts})


async def test_a_sentence_opens_to_what_bears_it_and_one_that_nothing_bears_says_so(
    authors: list[Persona], hold: Hold, scripts: Any
) -> None:
    def half_supported(answer: dict[str, Any]) -> None:
        answer["diagnosis"][0]["sentence"] = f"For both {SUPPORTED}."
        for side in answer["sides"]:
            side["reasoning"] = [
                {"sentence": f"It is said that {SUPPORTED}.", "messages": side["messages"]},
                {"sentence": "The moon is made of green cheese.", "messages": side["messages"]},
            ]

    script = {"card": changed(scripts, half_supported), "judge": bears_what_was_said}
    held = await hold(authors, aspects=2, script=script)
    spoken = {message.id: message for message in held.result.room_messages}
    for card, notes in zip(held.result.cards, held.result.notes, strict=True):
        covered = " ".join(source.sentence for source in notes.sources)
        for text in (card.question, card.diagnosis, *(side.reasoning for side in card.personas.values())):
            assert all(sentence in covered for sentence in sentences(text))
        for source in notes.sources:
            bearing = SUPPORTED in source.sentence
            assert bool(source.messages) is bearing and not source.places and not source.beliefs, source
            assert all(source.persona in ("", spoken[key].persona) for key in source.messages)
        assert f"the falsifier of {MAUD} was proposed by the card writer" in notes.flags
        assert any("sentences have no source" in flag for flag in notes.flags)
    assert "sources-room-1" in [request.label.seat for request in held.model.asked("judge")]


async def test_cards_speak_of_people_by_name(authors: list[Persona], hold: Hold) -> None:
    held = await hold(authors, aspects=2)
    assert f"{MAUD} holds to the count." in held.result.cards[0].personas[MAUD].reasoning
    assert "Speaker" not in held.result.cards[0].model_dump_json()


@pytest.mark.parametrize(("moved", "kind"), [("AB", "double crux"), ("A", "single crux"), ("", "not a crux")])
async def test_the_flip_test(authors: list[Persona], hold: Hold, scripts: Any, moved: str, kind: str) -> None:
    def supposing(request: Request) -> str:
        supposed = scripts.block(request, "SUPPOSITION")
        if "placebo" in request.label.seat:
            assert scripts.core not in supposed
            return str(scripts.speak(request))
        other = {"YES": "NO", "NO": "YES"}[scripts.stance_of(request)]
        assert supposed.startswith(scripts.core) and f"the answer is {other}" in supposed
        label = other if scripts.letter(request) in moved else scripts.stance_of(request)
        return str(scripts.turn(f"{label}: with that granted."))

    held = await hold(authors, aspects=2, flip_test=True, script={"flip_test": supposing})
    assert [notes.kind for notes in held.result.notes] == [kind, kind]
    assert [event.notes.kind for event in held.heard(CardNoted)][-1] == kind
    assert len(held.model.asked("flip_test")) == 2 * 12
    tally = (held.result.notes[0].flips or {})[MAUD]
    assert (tally.samples, tally.flips, tally.placebo) == (3, 3 if "A" in moved else 0, 0)


@pytest.mark.parametrize(
    ("granted", "placebo", "kind"),
    [
        (["NO", "NO", "YES"], "YES", "single crux"),
        (["NO", "YES", "YES"], "YES", "not a crux"),
        (["NUANCED", "NUANCED", "NUANCED"], "YES", "not a crux"),
        (["NO", "NO", "NO"], "NO", "not a crux"),
    ],
)
async def test_a_side_flips_for_the_premise_mostly_and_never_for_the_placebo(
    authors: list[Persona], hold: Hold, scripts: Any, granted: list[str], placebo: str, kind: str
) -> None:
    def supposing(request: Request) -> str:
        if scripts.letter(request) == "B":
            return str(scripts.speak(request))
        label = placebo if "placebo" in request.label.seat else granted[request.label.round]
        return str(scripts.turn(f"{label}: with that granted."))

    held = await hold(authors, aspects=2, rooms_per_aspect=1, flip_test=True, script={"flip_test": supposing})
    assert held.result.notes[0].kind == kind


async def test_two_who_close_alike_are_not_tested(authors: list[Persona], hold: Hold, scripts: Any) -> None:
    script = {"closing": scripts.turn("NO: both of us.")}
    held = await hold(authors, aspects=2, flip_test=True, script=script)
    assert {notes.kind for notes in held.result.notes} == {"not tested"} and not held.model.asked("flip_test")


async def test_a_side_that_gives_no_turn_is_named_and_where_no_room_has_both_the_debate_fails(
    authors: list[Persona], hold: Hold, scripts: Any
) -> None:
    def silent(request: Request) -> str:
        return "nothing" if scripts.letter(request) == "B" else str(scripts.speak(request))

    phases = ("room_position", "room_exchange", "room_convergence")
    held = await hold(authors, aspects=2, script=dict.fromkeys(phases, silent))
    assert f"room-1 has no card: {ILARIO} gave no usable turn in it" in held.result.errors
    assert held.result.state == "failed" and not held.result.cards


async def test_a_position_is_asked_for_shorter_and_shown_whole(
    authors: list[Persona], hold: Hold, scripts: Any
) -> None:
    long = "The premise of it all is that a count was made. " * 12

    def position(request: Request) -> str:
        return str(scripts.turn("YES: so.", long if request.label.attempt == 1 else f"{long[:400]} In short, yes."))

    held = await hold(authors, aspects=2, rooms_per_aspect=1, script={"room_position": position})
    again = [request for request in held.model.asked("room_position") if request.label.attempt == 2]
    assert again and "say the same in 80 or fewer" in again[0].messages[-1].content
    shown = scripts.block(held.model.asked("room_exchange")[0], "POSITIONS")
    assert "In short, yes." in shown and "…" not in shown


def same_questions(request: Request) -> str:
    """A judge for whom texts that are equal, or two wordings of one question, say the same."""
    verdicts: list[dict[str, Any]] = []
    for line in request.messages[-1].content.split("\n"):
        if line.startswith('{"pair"'):
            pair = json.loads(line)
            same = "traffic" in pair["premise"] and "traffic" in pair["claim"] and "?" in pair["premise"]
            kind, span = ("same", pair["premise"]) if same else ("unrelated", "")
            verdicts.append({"pair": pair["pair"], "kind": kind, "span": span})
    return json.dumps({"verdicts": verdicts})


async def test_two_rooms_that_come_to_the_same_question_give_one_card(authors: list[Persona], hold: Hold) -> None:
    held = await hold(authors, aspects=2, rooms_per_aspect=1, script={"judge": same_questions})
    assert len(held.result.cards) == 1 and len(held.of("crux_room_complete")) == 2
    assert "room-2 came to the same question again" in held.result.notes[0].flags


async def test_questions_found_in_the_texts_are_the_rounds_and_a_card_says_where_it_was_met(
    authors: list[Persona], hold: Hold
) -> None:
    questions = ("Did the traffic cease when the charge came?", "Is a printed rule enough?")
    held = await hold(authors, questions=questions, script={"judge": same_questions})
    assert [aspect.label for aspect in held.result.aspects] == list(questions)
    assert not held.model.asked("decomposition")
    assert held.result.notes[0].seen_in == "both"
    other = await hold(authors, questions=("Is it just?", "Is a printed rule enough?"))
    assert {notes.seen_in for notes in other.result.notes} == {"debate"}
    one = await hold(authors, questions=("Is it just?",), aspects=2)
    assert [aspect.id for aspect in one.result.aspects] == ["a1", "a2"] and one.model.asked("decomposition")


async def test_two_plain_answers_stand_beside_the_debate_with_their_cost(authors: list[Persona], hold: Hold) -> None:
    held = await hold(authors, aspects=2, baselines=True)
    assert [b.method for b in held.result.baselines] == ["one call", "chain of thought"]
    assert all(b.calls == 1 and b.cost == 0 and b.output_tokens > 0 for b in held.result.baselines)
    assert len(held.heard(BaselineAnswered)) == 2
    assert BaselineAnswer(answer="x").thinking == ""


EVIDENCE = Evidence(
    "e1", "A full count of the collar in 2028 found as many vehicles gained there as Ninebridges lost.", "room-2", 3
)


async def test_evidence_forks_a_debate_and_the_beginning_stays_identical(authors: list[Persona], scripts: Any) -> None:
    log: list[Event] = []
    parent = Debate(
        "Should software decide who waits?",
        authors,
        generate=recording(ScriptedModel(scripts.panel), log.append),
        config=DebateConfig(aspects=2),
        seed=3,
        clock=lambda: 5,
    )
    before = [event async for event in parent.events()]

    def moved(request: Request) -> str:
        evidence = scripts.block(request, "EVIDENCE")
        if scripts.letter(request) == "A" and "found as many vehicles" in evidence:
            return str(
                scripts.turn(
                    "NO: the count settles it.",
                    "The full count of the collar is in, and I was wrong about the vehicles.",
                    updated=True,
                    because="the full count of the collar found as many vehicles gained",
                    claim_ref="e1",
                )
            )
        return str(scripts.speak(request))

    def card(request: Request) -> str:
        answer = json.loads(scripts.card(request))
        if "evidence" in scripts.block(request, "WHAT WAS SAID"):
            answer["sides"][0]["position"] = "NO"
            answer["resolved"] = True
        return json.dumps(answer)

    def converged(request: Request) -> str:
        answer = json.loads(scripts.converge(request))
        if scripts.block(request, "EVIDENCE") and scripts.letter(request) == "A":
            answer["state"]["position"] = "NO: by the count."
        return json.dumps(answer)

    live = ScriptedModel({**scripts.panel, "room_exchange": moved, "card": card, "room_convergence": converged})
    fork = Debate(
        parent.result().topic,
        authors,
        generate=replaying(Recording.from_events(log), live),
        config=DebateConfig(aspects=2),
        seed=3,
        clock=lambda: 5,
        evidence=[EVIDENCE],
    )
    async for _ in fork.events():
        pass

    after = fork.result()
    first = str(live.requests[0].label)
    assert first.startswith("crux/room_exchange/") and "@room-2/" in first
    assert len(live.requests) < after.spend.calls / 2
    assert [m for m in after.messages if m.aspect != "a2" and m.phase != "closing"] == [
        m for m in parent.result().messages if m.aspect != "a2" and m.phase != "closing"
    ]
    assert before[0].type == "debate_start"
    injected = [m for m in after.room_messages if m.phase == "evidence"]
    assert [(m.id, m.persona, m.room_id) for m in injected] == [("e1", "", "room-2")]
    cards = compare_cards(parent.result(), after)
    assert [(c.change, c.resolved) for c in cards] == [("same", (False, False)), ("moved", (False, True))]
    assert cards[1].labels == {MAUD: ("YES", "NO"), ILARIO: ("NO", "NO")}
    assert any(entry.earned and entry.claim_ref == "e1" for entry in after.ledger)
    assert not any("earned" in flag or "resolved" in flag for flag in after.notes[1].flags)


async def test_a_topic_outside_every_corpus_is_said_to_be_so(
    authors: list[Persona], hold: Hold, scripts: Any, key: dict[str, Any]
) -> None:
    def honest(request: Request) -> str:
        if "Nothing on record" not in scripts.block(request, "BELIEFS ON RECORD"):
            return str(scripts.speak(request))
        if scripts.letter(request) == "A":
            return str(scripts.turn("NONE: nothing written.", "Nothing I have written bears on this."))
        return str(scripts.turn("YES: surely.", "Inflation is a price too."))

    for topic in key["outside_every_corpus"]:
        with pytest.raises(CruxConfigurationError, match="nothing that any of them wrote bears on this topic"):
            await hold(authors, topic, anyway=False)
        held = await hold(authors, topic, aspects=2, script={"opening": honest})
        maud, ilario = held.result.messages[:2]
        assert maud.flags == ("outside the corpus",) and maud.stance == "NONE"
        assert ilario.flags == ("answers where nothing is on record",)
        assert held.result.state == "finished"


async def test_topics_inside_the_corpus_find_beliefs(authors: list[Persona], key: dict[str, Any]) -> None:
    from crux.retrieval.grounding import Grounding

    for persona in authors:
        grounding = Grounding(persona)
        assert not (await grounding.grounds(key["topic"])).outside
        for crux in key["crux"]:
            assert 1 <= len((await grounding.grounds(crux["question"], 10)).beliefs) <= 10


def test_a_living_persons_card_has_only_what_a_text_of_theirs_bears() -> None:
    place = Place(item="a", start=0, end=5, quote="Tolls", title="On tolls")
    sides = {
        name: PersonaPosition(position=answer, reasoning="Said alone. Written too.", falsifier="If counts fell.")
        for name, answer in (("Ada Quill", "YES"), ("Maud Tarrowby", "NO"))
    }
    card = CruxCard.model_validate(
        {
            **{"id": "d-room-1", "question": "Is a toll owed?", "disagreement_type": "values", "diagnosis": "So."},
            **{"resolved": False, "personas": sides, "source_aspect": "a1", "source_messages": ()},
            **{"crux_room_id": "room-1", "timestamp": 0},
        }
    )
    sources = [
        SentenceSource(part="reasoning", sentence="Said alone.", persona="Ada Quill", messages=("m1",)),
        SentenceSource(part="reasoning", sentence="Written too.", persona="Ada Quill", places=(place,)),
        SentenceSource(part="falsifier", sentence="If counts fell.", persona="Ada Quill"),
    ]
    notes = CardNotes(card_id=card.id, sources=tuple(sources), texts={"Ada Quill": 3})
    kept = texts_alone(card, notes, ["Ada Quill"]).personas
    assert kept["Ada Quill"].reasoning == "Written too." and kept["Ada Quill"].falsifier is None
    assert kept["Maud Tarrowby"] == sides["Maud Tarrowby"], "an invented author may say more"
    assert notes.spoken == "Spoken by a model from 3 texts of Ada Quill; nobody named here said this."
