"""From texts to personas: the claim book and its gate, building again, the store."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from crux.answers import Answers
from crux.book import Author, Claim, ClaimBook, Correction, Mention, Relation
from crux.building import Built, build_persona
from crux.personas.beliefs import density, graph_of
from crux.personas.carrying import carried
from crux.personas.contract import unquoted
from crux.personas.corpus import Corpus, make_corpus
from crux.personas.persona import Persona, PersonaError
from crux.personas.shipped import shipped_authors, shipped_corpus
from crux.personas.store import PersonaStore, StoredCorpus
from crux.sources.utterance import Utterance
from llm_runtime.errors import BudgetExceeded, DeadlineExceeded, ServerFault
from llm_runtime.testing import ScriptedModel, faulty

Build = Callable[..., Awaitable[Built]]


def essay(text: str, key: str = "t1", date: str = "2020-01-01") -> Utterance:
    return Utterance(id=key, source="essay", date=date, text=text)


# --- beliefs from the claim book


async def test_the_shipped_authors_pass_the_gate(authors: list[Persona], key: dict[str, Any]) -> None:
    assert shipped_authors() == ["ilario-fennimast", "maud-tarrowby"]
    for persona in authors:
        graph = persona.beliefs
        assert graph is not None and len(graph.nodes) >= 20
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


async def test_one_essay_gives_a_thin_book_that_is_kept_with_the_reasons(build: Build, reader: Any) -> None:
    corpus = make_corpus(shipped_corpus("maud-tarrowby").corpus.items[:1])
    built = await build(StoredCorpus(name="Ann Ash", corpus=corpus), reader())

    beliefs = built.persona.beliefs
    assert beliefs is not None and 0 < len(beliefs.nodes) < 20, "what was read is kept"
    assert built.standing.thin and any("claims are held, at least 20" in why for why in built.standing.reasons)


async def test_the_contract_is_written_from_claims_of_all_texts(build: Build, reader: Any) -> None:
    model = reader()
    built = await build(shipped_corpus("maud-tarrowby"), model)
    asked = next(one for one in model.requests if one.label.phase == "contract_bias")
    shown = asked.messages[-1].content
    held = built.book.of("Maud Tarrowby", "holds")
    assert sum(claim.text in shown for claim in held) >= 0.9 * len(held)
    items = {place.item for claim in held for place in built.book.places(claim.id)}
    nodes = built.persona.beliefs.nodes if built.persona.beliefs else ()
    assert len(items) == 13 and sum(node.places[-1].quote in shown for node in nodes) >= 20


async def test_a_passage_without_an_answer_is_listed_and_not_the_end_of_the_build(build: Build, reader: Any) -> None:
    inner = reader()
    lost = shipped_corpus("maud-tarrowby").corpus.chunks[0].text

    async def forgetful(request: Any) -> str:
        text = (await inner(request)).text
        if request.label.phase != "reading" or json.dumps(lost, ensure_ascii=False) not in request.messages[-1].content:
            return text
        return json.dumps({"passages": [one for one in json.loads(text)["passages"] if one["id"] != "p1"]})

    built = await build(shipped_corpus("maud-tarrowby"), ScriptedModel(forgetful))
    assert [one.chunk.text for one in built.unread] == [lost]
    assert built.standing.read == pytest.approx(37 / 38)


async def test_an_audit_reads_passages_alone_and_names_what_the_book_overlooked(build: Build, reader: Any) -> None:
    whole = shipped_corpus("maud-tarrowby")
    stored = whole.model_copy(update={"corpus": make_corpus(list(whole.corpus.items[:2]))})
    honest = await build(stored, reader(), audited=True)
    assert honest.audit is not None and honest.audit.passages == 5
    assert honest.audit.claims and honest.audit.share == 1.0 and not honest.audit.missed

    inner = reader()

    async def hasty(request: Any) -> str:
        answer = json.loads((await inner(request)).text)
        if request.label.phase == "reading":
            for passage in answer["passages"]:
                passage["claims"] = passage["claims"][:1]
        return json.dumps(answer)

    overlooked = await build(stored, ScriptedModel(hasty), audited=True)
    found = overlooked.audit
    assert found is not None and found.share is not None and found.share < 0.8
    assert len(found.missed) == found.claims - found.found
    texts = {item.id: item.text for item in stored.corpus.items}
    assert all(one.place.quote in texts[one.place.item] for one in found.missed)


def test_what_an_author_takes_back_is_held_no_more_and_its_story_is_kept() -> None:
    early, late = "The rebate is a waste of the takings.", "The rebate is owed before any charge is just."
    corpus = make_corpus([essay(early, "a", "2019-01-01"), essay(late, "b", "2024-01-01")])
    places = [corpus.place("a", 0, len(early)), corpus.place("b", 0, len(late))]
    book = ClaimBook(
        claims=(
            Claim(id="c1", text="A rebate wastes the takings", kind="fact"),
            Claim(id="c2", text="A rebate is owed", kind="value"),
            Claim(id="c3", text="Charges are free of cost", kind="proposal"),
        ),
        mentions=(
            Mention(claim="c1", author="ann", stance="holds", place=places[0]),
            Mention(claim="c1", author="ann", stance="denies", place=places[1]),
            Mention(claim="c2", author="ann", stance="reports", place=places[1]),
            Mention(claim="c3", author="ann", stance="denies", place=places[1]),
        ),
        relations=(Relation(from_="c1", to="c3", kind="supports", author="ann", origin="stated"),),
        authors=(Author(name="ann"),),
    )
    graph = graph_of(book, "ann", corpus, "ann", "2026")

    (found,) = graph.contradictions
    assert (found.first_places[0].date, found.second_places[0].date) == ("2019-01-01", "2024-01-01")
    assert [node.concept for node in graph.nodes] == [
        "It is not so: A rebate wastes the takings",
        "It is not so: Charges are free of cost",
    ]
    assert graph.dependents("c1") == ("c3",) and graph.nodes[0].grounding == (corpus.chunks[1].id,)


# --- building again, and the store


async def test_only_what_changed_is_built_again(tmp_path: Path, reader: Any) -> None:
    stored = shipped_corpus("maud-tarrowby")
    path = tmp_path / "answers.jsonl"
    kept: list[ClaimBook] = []

    async def asked(corpus: Any) -> dict[str, int]:
        model = reader()
        await build_persona(
            stored.name,
            corpus,
            generate=model,
            book=kept[-1] if kept else None,
            answers=Answers(path),
            keep=kept.append,
            seed=5,
        )
        phases = ("reading", "contract_voice", "linking", "judge")
        return {phase: len(model.asked(phase)) for phase in phases}

    first = await asked(make_corpus(stored.corpus.items[:-1]))
    assert first["reading"] > 1 and first["contract_voice"] == 1
    read = kept[-1].authors[0].read
    assert sum((await asked(make_corpus(stored.corpus.items[:-1]))).values()) == 0
    assert (await asked(stored.corpus))["reading"] == 1
    assert set(read) < set(kept[-1].authors[0].read) == {chunk.id for chunk in stored.corpus.chunks}

    path.write_text(path.read_text("utf-8")[:-40], "utf-8")  # killed in the middle of the last line
    assert sum((await asked(stored.corpus)).values()) <= 1

    fewer = make_corpus(stored.corpus.items[1:])
    await asked(fewer)
    assert all(mention.place.item in fewer.by_id for mention in kept[-1].mentions)


@pytest.mark.parametrize("paid", range(1, 14, 3))
async def test_a_build_that_runs_out_of_budget_keeps_what_was_answered(tmp_path: Path, reader: Any, paid: int) -> None:
    stored = shipped_corpus("maud-tarrowby")
    path = tmp_path / "answers.jsonl"
    kept: list[ClaimBook] = []
    first = reader()
    poor = faulty(first, {paid: BudgetExceeded("the cap is reached")})
    more: dict[str, Any] = {"answers": Answers(path), "keep": kept.append}
    with pytest.raises(BudgetExceeded):
        await build_persona(stored.name, stored.corpus, generate=poor, **more)
    model = reader()
    book = kept[-1] if kept else None
    more["answers"] = Answers(path)
    await build_persona(stored.name, stored.corpus, generate=model, book=book, **more)
    whole = reader()
    await build_persona(stored.name, stored.corpus, generate=whole)
    # Stances are read again in lots: those of a wave that was cut are parted otherwise.
    assert 0 <= len(model.requests) - (len(whole.requests) - len(first.requests)) <= 1


@pytest.mark.parametrize(
    "fault", [BudgetExceeded("the cap is reached"), DeadlineExceeded("time is up"), ServerFault("broken")]
)
async def test_a_contract_that_is_stopped_keeps_the_answers_that_are_under_way(
    tmp_path: Path, reader: Any, fault: Exception
) -> None:
    stored, path = shipped_corpus("maud-tarrowby"), tmp_path / "answers.jsonl"
    inner, refused = reader(), asyncio.Event()

    async def slow(request: Any) -> str:
        if request.label.phase == "contract_flip":
            refused.set()
            raise fault
        if request.label.phase.startswith("contract"):
            await refused.wait()
        for _ in range(20):  # a cancelled call would end here, and its answer be lost
            await asyncio.sleep(0)
        return (await inner(request)).text

    with pytest.raises(type(fault)):
        await build_persona(stored.name, stored.corpus, generate=ScriptedModel(slow), answers=Answers(path))
    linked = len(inner.asked("linking")) + len(inner.asked("judge"))
    assert len(path.read_text("utf-8").splitlines()) == linked + 8

    again = reader()
    await build_persona(stored.name, stored.corpus, generate=again, answers=Answers(path))
    asked = [one.label.phase for one in again.requests]
    assert [phase for phase in asked if phase.startswith("contract")] == ["contract_flip"]
    assert "linking" not in asked and "judge" not in asked


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
    assert found.built and not found.problems and found.unverified == 0 and (found.beliefs or 0) >= 20

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


def test_what_a_later_import_finds_to_be_quoted_is_held_no_more() -> None:
    said = "The cache must stay."
    old, new = (
        Corpus(items=(Utterance(id="u1", source="x", text=said, quoted=quoted),))
        for quoted in (None, ((0, len(said)),))
    )
    place = old.place("u1", 0, len(said))
    mention = Mention(claim="c1", author="Ann", stance="holds", place=place)
    book = ClaimBook(claims=(Claim(id="c1", text=said, kind="fact"),), mentions=(mention,))
    assert [one.stance for one in carried(book, old, old).mentions] == ["holds"]
    assert [one.stance for one in carried(book, old, new).mentions] == ["reports"]


def test_in_a_group_equal_sentences_stay_with_those_who_said_them() -> None:
    said = "The cache must go now."
    old = Corpus(items=tuple(Utterance(id=f"u{n}", source="x", text=said, speaker=who) for n, who in enumerate("AB")))
    moved = (one.model_copy(update={"id": f"{one.id}-new"}) for one in reversed(old.items))
    mentions = (
        Mention(claim="c1", author=one.speaker or "", stance="holds", place=old.place(one.id, 0, 22))
        for one in old.items
    )
    claims = (Claim(id="c1", text=said, kind="fact"),)
    book = ClaimBook(claims=claims, mentions=tuple(mentions), authors=(Author(name=""),))
    now = carried(book, old, Corpus(items=tuple(moved))).mentions
    assert [(one.author, one.place.item) for one in now] == [("A", "u0-new"), ("B", "u1-new")]


def test_a_correction_of_any_signs_can_be_read_again(tmp_path: Path) -> None:
    store = PersonaStore(tmp_path)
    claims = tuple(Claim(id=f"c{n}", text=f"Cache {n} must go.", kind="fact") for n in range(2))
    store.save_beside("books", "Ann", ClaimBook(claims=claims))
    for n, by in enumerate(("A\u2028B", "C\x85D")):
        store.correct("Ann", Correction(what="reject", claim=f"c{n}", by=by))
    book = store.book("Ann")
    assert book is not None and len(book.corrections) == 2
