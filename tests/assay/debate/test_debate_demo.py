"""The recorded debate: it plays through the engine, shows what a debate has to show, and quotes the essays."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.demo import DemoAnswers, PreparedDemo, demo_answers, prepare_demo
from assay.registry import prepared
from crux import DebateResult
from crux.personas.authors import shipped_persona
from crux.personas.shipped import shipped_authors
from llm_runtime.errors import ReplayMismatch
from llm_runtime.events import Event, RunStarted
from llm_runtime.messages import Reply, Request

from .conftest import hold

pytest.importorskip("bm25s", reason="a debate needs the extra 'debate'")
pytest.importorskip("bm25s", reason="a debate needs the extra 'debate'")


def demo() -> PreparedDemo:
    """The recorded debate, made ready."""
    return prepare_demo("debate", Path(), 0)


def started() -> RunStarted:
    """The first event of the recorded debate."""
    run = prepared(demo().run)
    task, options = run.data()
    return RunStarted(
        run_id="demo",
        protocol=run.run.name,
        title="",
        task=task,
        settings={"options": options, "terms": {}},
        seed=demo().seed,
        origin="demo",
        version="test",
    )


Played = tuple[DebateResult, list[str], list[Event]]
_played: list[Played] = []


async def play() -> Played:
    """The result, the labels of the calls in order, and the events; it is played once, and read by all."""
    if not _played:
        _played.append(await _play())
    return _played[0]


async def _play() -> Played:
    recorded, asked, events = demo(), list[str](), list[Event]()

    async def generate(request: Request) -> Reply:
        assert recorded.model
        asked.append(str(request.label))
        return await recorded.model(request)

    result = await hold(recorded.run, recorded.seed, generate, events.append)
    return DebateResult.model_validate(result), asked, events


async def test_it_plays_to_its_end_and_uses_every_answer_once() -> None:
    result, asked, _ = await play()
    assert result.state == "finished" and not result.errors
    assert sorted(asked) == sorted(demo_answers("debate").answers)


async def test_every_quotation_on_a_card_stands_in_its_authors_essays() -> None:
    result, _, _ = await play()
    corpora = {persona.name: persona.corpus for persona in map(shipped_persona, shipped_authors())}
    quoted = [
        (name, quote)
        for c in result.cards
        for name, side in c.personas.items()
        for quote in side.grounding_quotes or ()
    ]
    assert len(quoted) == 12
    for name, quote in quoted:
        assert any(quote in item.text for item in corpora[name].items), quote
    for note in result.notes:
        assert note.dropped_quotes == 0 and all("no source" in flag for flag in note.flags)
        for name, places in note.places.items():
            for place in places:
                assert corpora[name].by_id[place.item].text[place.start : place.end] == place.quote


async def test_it_shows_one_card_settled_one_open_and_a_shift_that_was_earned() -> None:
    result, asked, _ = await play()
    assert [(card.disagreement_type, card.resolved) for card in result.cards] == [
        ("values", False),
        ("definition", True),
    ]
    # The one closed NUANCED: only two who close with opposite answers can be tested for a flip.
    assert {note.kind for note in result.notes} == {"not tested"}
    assert [(shift.before, shift.after, shift.earned) for shift in result.shifts] == [
        ("YES", "NUANCED", True),
        ("NO", "NO", None),
    ]
    assert result.ledger and all(entry.earned for entry in result.ledger)
    assert all(side.falsifier for card in result.cards for side in card.personas.values())
    assert any("/clash/" in label for label in asked) and len(result.baselines) == 2


async def test_no_turn_is_flagged() -> None:
    result, _, _ = await play()
    assert [(message.id, message.flags) for message in (*result.messages, *result.room_messages) if message.flags] == []


def test_it_says_that_no_model_wrote_it() -> None:
    recorded = demo_answers("debate")
    assert "written by hand" in recorded.manifest["statement"] and "no model's output" in recorded.manifest["statement"]
    assert sum(latency for _, latency in recorded.answers.values()) < 90_000


async def test_a_call_it_does_not_know_is_refused() -> None:
    recorded = demo_answers("debate")
    short = DemoAnswers("debate", recorded.manifest, dict(list(recorded.answers.items())[:3]))
    with pytest.raises(ReplayMismatch, match="has no answer to crux/"):
        await hold(demo().run, 0, short.model(0))


@pytest.mark.parametrize("author", shipped_authors())
def test_the_shipped_personas_have_beliefs_and_quote_their_essays(author: str) -> None:
    persona = shipped_persona(author)
    assert persona.beliefs is not None and len(persona.beliefs.nodes) >= 20
    places = [*persona.contract.anchor_excerpts, *persona.contract.voice.examples]
    assert len(places) == 7
    for place in [*places, *(place for node in persona.beliefs.nodes for place in node.places)]:
        assert persona.corpus.by_id[place.item].text[place.start : place.end] == place.quote
