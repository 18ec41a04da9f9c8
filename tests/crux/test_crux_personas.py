"""From texts to personas: the belief graph and its gate, merging, building again, the store."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from crux.personas import (
    Answers,
    BeliefGraphRefused,
    CorpusItem,
    Persona,
    PersonaError,
    PersonaStore,
    StoredCorpus,
    build_persona,
    make_corpus,
    require_graph,
    shipped_authors,
    shipped_corpus,
)
from crux.personas.beliefs import BuildCounts, density
from crux.personas.contract import unquoted
from crux.personas.extraction import Read, Relations, placed
from crux.personas.graph_building import build_graph
from crux.personas.merging import Concepts, Groups, apply, batches, merge_alike
from crux.polarity import opposed
from llm_runtime.errors import BudgetExceeded, DeadlineExceeded, ServerFault
from llm_runtime.testing import ScriptedModel, faulty

Build = Callable[..., Awaitable[Any]]


def essay(text: str, key: str = "t1", date: str = "2020-01-01") -> CorpusItem:
    return CorpusItem(id=key, source="essay", date=date, text=text)


# --- belief graphs


async def test_the_shipped_authors_pass_the_gate(authors: list[Persona], key: dict[str, Any]) -> None:
    assert shipped_authors() == ["ilario-fennimast", "maud-tarrowby"]
    for persona in authors:
        graph = persona.beliefs
        assert graph is not None and 20 <= len(graph.nodes) <= 50
        known = {b["concept"] for b in key["belief"] if b["author"] == persona.id}
        assert len({node.concept for node in graph.nodes} & known) >= 25
        for node in graph.nodes:
            assert node.confidence == density(len(node.documents))
            for place in node.places:
                assert persona.corpus.by_id[place.item].text[place.start : place.end] == place.quote


async def test_the_belief_file_has_the_keys_of_the_specification(authors: list[Persona]) -> None:
    data = authors[0].beliefs.model_dump() if authors[0].beliefs else {}
    assert {"personaId", "nodes", "edges", "extractedAt"} <= set(data)
    assert {"id", "concept", "type", "confidence", "grounding"} <= set(data["nodes"][0])
    assert set(data["edges"][0]) == {"from", "to", "polarity", "confidence", "sourceChunks"}


def relation(cause: str, effect: str, quote: str, polarity: int = 1) -> dict[str, Any]:
    return {
        "cause": cause,
        "cause_type": "inference",
        "effect": effect,
        "effect_type": "core_value",
        "polarity": polarity,
        "held": "stated",
        "quote": quote,
    }


async def test_one_essay_gives_a_thin_graph_and_the_reasons(build: Build, plain_reader: ScriptedModel) -> None:
    text = "The queue is a price, paid in minutes by whoever waits."
    found = json.dumps({"relationships": [relation("a queue is a price", "the poor pay it", text[:30])]})
    model = faulty(plain_reader, {"extraction": found})
    persona, report = await build(StoredCorpus(name="Ann Ash", corpus=make_corpus([essay(text)])), model)

    assert persona.beliefs is not None and len(persona.beliefs.nodes) == 2, "what was read is kept"
    with pytest.raises(BeliefGraphRefused) as caught:
        require_graph(persona, report)
    assert "2 beliefs, at least 20" in str(caught.value) and "more than one text" in str(caught.value)


async def test_a_relation_without_its_quote_is_dropped_and_counted(build: Build, reader: Any) -> None:
    inner = reader()

    async def lying(request: Any) -> str:
        answer = (await inner(request)).text
        if request.label.phase != "extraction":
            return answer
        data = json.loads(answer)
        data["relationships"].insert(
            0, relation("invented cause here", "invented effect here", "never written anywhere")
        )
        return json.dumps(data)

    persona, _ = await build(shipped_corpus("maud-tarrowby"), ScriptedModel(lying))
    assert persona.beliefs.counts.unquoted == persona.beliefs.counts.chunks == 38
    assert not any("invented" in node.concept for node in persona.beliefs.nodes)


async def test_a_passage_without_an_answer_is_lost_and_not_the_build(build: Build, reader: Any) -> None:
    model = reader()
    chunk = shipped_corpus("maud-tarrowby").corpus.chunks[0].id
    persona, report = await build(
        shipped_corpus("maud-tarrowby"),
        faulty(model, {f"crux/extraction/{chunk}/0/1": "no", f"crux/extraction/{chunk}/0/2": "no"}),
    )
    assert report.passed and persona.beliefs.counts.unreadable == 1


def test_concepts_merge_by_meaning_and_never_across_a_negation() -> None:
    pytest.importorskip("bm25s", reason="merging needs the extra 'debate'")
    names = [
        "A queue is a price paid in minutes",
        "a queue is the price, paid in minutes",
        "A queue is not a price paid in minutes",
        "Waiting costs people their time",
    ]
    concepts = Concepts(names)
    merge_alike(concepts)
    assert concepts.home(names[1]) == concepts.home(names[0]) != concepts.home(names[2])

    (batch,) = batches(concepts)
    numbers = [batch.index(concepts.home(name)) + 1 for name in (names[0], names[2], names[3])]
    apply(
        Groups.model_validate({"groups": [{"members": [*numbers, 99], "concept": "waiting is a price"}]}),
        batch,
        concepts,
    )
    assert concepts.home(names[3]) == concepts.home(names[0]) == "waiting is a price"
    assert concepts.home(names[2]) == names[2] and concepts.vetoed >= 1


@pytest.mark.parametrize(
    ("first", "second", "opposite"),
    [
        ("Price reveals need", "Price does not reveal need", True),
        ("the toll reduces traffic", "the toll increases traffic", True),
        ("a large republic protects liberty", "a large republic endangers liberty", True),
        ("the list should bind the inspector", "the list should never bind the inspector", True),
        ("discretion is a published rule", "discretion is an unpublished rule", True),
        ("price reveals need", "prices reveal the need of people", False),
        ("no rule lasts forever", "no rule lasts for ever", False),
        ("a large republic is safe", "a small republic is unsafe", False),
        ("standing armies are dangerous", "the courts will swallow the states", False),
    ],
)
def test_the_veto_knows_opposites_from_paraphrases(first: str, second: str, opposite: bool) -> None:
    assert opposed(first, second) is opposed(second, first) is opposite


def test_contradictions_across_time_are_kept_and_dated() -> None:
    early, late = "The rebate is a waste of the takings.", "The rebate is owed before any charge is just."
    corpus = make_corpus([essay(early, "a", "2019-01-01"), essay(late, "b", "2024-01-01")])

    reads: list[Read] = []
    for chunk in corpus.chunks:
        polarity, quote = (1, early) if chunk.item == "a" else (-1, late)
        answer = Relations.model_validate(
            {"relationships": [relation("the rebate", "waste of the takings", quote, polarity)]}
        )
        reads += placed(answer, chunk, corpus.by_id[chunk.item])[0]
    concepts = Concepts([text for read_ in reads for text in (read_.relation.cause, read_.relation.effect)])
    graph = build_graph("ann", reads, concepts, "2026", BuildCounts())

    (found,) = graph.contradictions
    assert found.kind == "relation"
    assert (found.first_places[0].date, found.second_places[0].date) == ("2019-01-01", "2024-01-01")


# --- building again, and the store


async def test_only_what_changed_is_built_again(tmp_path: Path, reader: Any) -> None:
    pytest.importorskip("bm25s", reason="the belief pipeline needs the extra 'debate'")
    stored = shipped_corpus("maud-tarrowby")
    path = tmp_path / "answers.jsonl"

    async def asked(corpus: Any) -> dict[str, int]:
        model = reader()
        await build_persona(stored.name, corpus, generate=model, answers=Answers(path), seed=5)
        return {phase: len(model.asked(phase)) for phase in ("extraction", "contract_voice", "merge")}

    without_last = make_corpus(stored.corpus.items[:-1])
    first = await asked(without_last)
    assert first["extraction"] == len(without_last.chunks) and first["contract_voice"] == 1
    assert sum((await asked(without_last)).values()) == 0
    assert (await asked(stored.corpus))["extraction"] == len(stored.corpus.chunks) - len(without_last.chunks)

    path.write_text(path.read_text("utf-8")[:-40], "utf-8")  # killed in the middle of the last line
    again = await asked(stored.corpus)
    assert sum(again.values()) <= 1


async def test_a_build_that_runs_out_of_budget_keeps_what_was_answered(tmp_path: Path, reader: Any) -> None:
    pytest.importorskip("bm25s", reason="the belief pipeline needs the extra 'debate'")
    stored = shipped_corpus("maud-tarrowby")
    path = tmp_path / "answers.jsonl"
    with pytest.raises(BudgetExceeded):
        await build_persona(
            stored.name,
            stored.corpus,
            generate=faulty(reader(), {30: BudgetExceeded("the cap is reached")}),
            answers=Answers(path),
        )
    kept = len(path.read_text("utf-8").splitlines())
    assert kept >= 29
    model = reader()
    await build_persona(stored.name, stored.corpus, generate=model, answers=Answers(path))
    assert len(model.requests) == 9 + 38 + 1 - kept


@pytest.mark.parametrize(
    "fault", [BudgetExceeded("the cap is reached"), DeadlineExceeded("time is up"), ServerFault("broken")]
)
async def test_a_contract_that_is_stopped_keeps_the_answers_that_are_under_way(
    tmp_path: Path, reader: Any, fault: Exception
) -> None:
    pytest.importorskip("bm25s", reason="the belief pipeline needs the extra 'debate'")
    stored, path = shipped_corpus("maud-tarrowby"), tmp_path / "answers.jsonl"
    inner, refused = reader(), asyncio.Event()

    async def slow(request: Any) -> str:
        if request.label.phase == "contract_flip":
            refused.set()
            raise fault
        await refused.wait()
        for _ in range(20):  # a cancelled call would end here, and its answer be lost
            await asyncio.sleep(0)
        return (await inner(request)).text

    with pytest.raises(type(fault)):
        await build_persona(stored.name, stored.corpus, generate=ScriptedModel(slow), answers=Answers(path))
    assert len(path.read_text("utf-8").splitlines()) == 8 and not inner.asked("extraction")

    again = reader()
    await build_persona(stored.name, stored.corpus, generate=again, answers=Answers(path))
    asked = [one.label.phase for one in again.requests]
    assert [phase for phase in asked if phase.startswith("contract")] == ["contract_flip"]


def test_the_store_keeps_and_checks_personas(tmp_path: Path, authors: list[Persona]) -> None:
    store = PersonaStore(tmp_path)
    assert store.names() == []
    maud = authors[0]
    store.add_corpus(StoredCorpus(name=maud.name, corpus=maud.corpus))
    with pytest.raises(PersonaError, match="not built"):
        store.load(maud.name)
    assert store.check(maud.name).problems

    store.save(maud)
    assert store.names() == ["Maud Tarrowby"]
    for kind in ("contracts", "corpus", "beliefs"):
        assert (tmp_path / kind / "Maud Tarrowby.json").is_file()
    assert store.load(maud.name) == maud
    found = store.check(maud.name)
    assert found.built and not found.problems and found.unverified == 0 and found.gate and found.gate.passed

    store.add_corpus(StoredCorpus(name=maud.name, corpus=make_corpus(maud.corpus.items[1:])))
    changed = store.check(maud.name)
    assert changed.stale and changed.unverified > 0

    (tmp_path / "contracts/Maud Tarrowby.json").write_text("{}", "utf-8")
    with pytest.raises(PersonaError, match="damaged"):
        store.load(maud.name)
    store.remove(maud.name)
    assert store.names() == []


@pytest.mark.parametrize("name", ["../escape", "a/b", "a\\b", "", "..", "x" * 200, "nul\x00", "<b>", ".hidden"])
def test_a_name_that_could_leave_the_store_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(PersonaError):
        PersonaStore(tmp_path).add_corpus(StoredCorpus(name=name, corpus=make_corpus([essay("words")])))
    assert not list(tmp_path.rglob("*.json"))


def test_two_names_with_one_id_are_refused(tmp_path: Path) -> None:
    store = PersonaStore(tmp_path)
    store.add_corpus(StoredCorpus(name="Ann Ash", corpus=make_corpus([essay("words")])))
    with pytest.raises(PersonaError, match="same id"):
        store.add_corpus(StoredCorpus(name="Ann  -Ash", corpus=make_corpus([essay("words")])))


def test_a_quotation_in_the_portrait_that_stands_nowhere_loses_its_marks() -> None:
    corpus = make_corpus([essay("The queue is a price, paid in minutes by whoever waits. It’s fair.")])
    prose = 'She calls the queue “a price” and waiting \'a virtue\'; it\'s "paid in minutes", or "paid in gold".'
    assert unquoted(prose, corpus) == (
        'She calls the queue “a price” and waiting a virtue; it\'s "paid in minutes", or paid in gold.',
        2,
    )
