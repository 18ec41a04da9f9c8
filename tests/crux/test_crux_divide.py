"""From a thread to the few questions that divide it: matrix, cruxes, what is common, what would settle them."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from tests.crux.spoken import DROP, LANTERN, Q_CONVERT, Q_MAJOR, Q_MOST, Q_SLOW, TWICE, Talk

from assay.protocols.crux.report.comparison import comparison_markdown
from crux.board import BLOCK, Board
from crux.book import Claim, ClaimBook, Mention, Relation
from crux.comparison import Comparison
from crux.config import CruxConfigurationError
from crux.divide import MOST_CALLS, divide, group_of
from crux.exports.claims import claims_aif, claims_argdown, to_graphml
from crux.personas.corpus import Corpus
from crux.requests import Questioner
from crux.results import Place
from crux.sides import AuthorSide
from crux.sources import Utterance, read_place

pytest.importorskip("bm25s", reason="divide needs the extra 'debate'")

THREAD = Path(__file__).with_name("lantern.jsonl")


def thread() -> Corpus:
    return group_of(read_place(THREAD).utterances)


async def found_of(talk: Talk = LANTERN, texts: Corpus | None = None, **options: Any) -> tuple[Comparison, Talk]:
    talk = replace(talk, requests=[])
    return await divide(texts or thread(), Questioner(talk.model(), seed=1), **options), talk


async def test_a_thread_of_thirty_comments_comes_down_to_its_cruxes() -> None:
    found, talk = await found_of()
    assert found.decision == "Should Lantern 4 drop INI files?"
    assert [one.question for one in found.candidates] == [Q_CONVERT, Q_MAJOR, Q_MOST, Q_SLOW]
    assert all(one.confirmed for one in found.candidates)
    crux = found.candidates[1]
    assert {view.author: view.answer for view in crux.sides} == {
        "Gus Hale": "YES",
        "Cleo Marsh": "NO",
        "Hana Ito": "NO",
    }
    assert crux.side("NO")[1].places[0].quote.startswith("Also, a major version must not")
    phases = [phase for phase, _ in talk.requests]
    assert len(phases) <= phases.count("reading") + phases.count("stances") + MOST_CALLS


async def test_what_both_can_say_and_what_settles_it_hangs_on_claims_of_each_side() -> None:
    found, _ = await found_of()
    by_question = {one.question: one for one in found.candidates}
    (proposal,) = by_question[Q_CONVERT].common
    assert proposal.kind == "proposal" and {view.author for view in proposal.sides} == {"Ema Ford", "Finn Roe"}
    (ground,) = by_question[Q_MAJOR].common
    assert ground.kind == "ground" and ground.sides[1].author == "Hana Ito"
    (asked_for,) = by_question[Q_CONVERT].settled_by
    assert asked_for.by == "experiment" and asked_for.sources[0].author == "Ema Ford"
    (nobody,) = by_question[Q_SLOW].settled_by
    assert nobody.sources == ()
    told = comparison_markdown(found)
    assert "No source: nobody said so." in told and "Would settle it, experiment" in told


async def test_a_proposal_that_one_side_does_not_bear_falls_and_is_counted() -> None:
    told = {Q_CONVERT: {"proposals": [("Rewrite it all.", DROP, DROP), ("Ask again.", "nowhere", DROP)]}}

    class Doubtful(Talk):
        def _kind(self, premise: str, claim: str) -> str:
            return "unrelated" if claim == "Rewrite it all." else super()._kind(premise, claim)

    talk = Doubtful(LANTERN.decision, LANTERN.claims, LANTERN.cruxes, told, LANTERN.supports)
    found, _ = await found_of(talk)
    assert all(not one.common for one in found.candidates) and found.dropped == 1


async def test_a_question_that_only_one_side_speaks_to_is_no_crux() -> None:
    found, _ = await found_of()
    assert found.proposed == 5 and all("Christmas" not in one.question for one in found.candidates)


async def test_an_answer_that_sentences_do_not_bear_is_not_confirmed_and_comes_last() -> None:
    class Unsure(Talk):
        def _kind(self, premise: str, claim: str) -> str:
            return "unrelated" if Q_CONVERT in claim else super()._kind(premise, claim)

    found, _ = await found_of(Unsure(LANTERN.decision, LANTERN.claims, LANTERN.cruxes))
    assert found.candidates[-1].question == Q_CONVERT and not found.candidates[-1].confirmed
    assert "not confirmed by their own sentences" in comparison_markdown(found)


async def test_nothing_is_read_or_judged_twice() -> None:
    first, _ = await found_of()
    again, talk = await found_of(book=first.books[0], known=first.judged)
    assert again.candidates == first.candidates
    assert {phase for phase, _ in talk.requests} <= {"cruxes", "settling"}
    later = Utterance(id="31", source="jsonl", speaker="Ben Reed", date="2026-03-20", text="A converter can wait.")
    grown = group_of((*thread().items, later))
    _, talk = await found_of(texts=grown, book=first.books[0], known=first.judged)
    assert [phase for phase, _ in talk.requests].count("reading") == 1


async def test_who_changed_their_mind_stands_where_they_stand_now() -> None:
    turned = Utterance(
        id="31",
        source="jsonl",
        speaker="Ben Reed",
        date="2026-04-01",
        text="I was wrong about this. Two readers do slow releases after all.",
    )
    claims = {claim: list(told) for claim, told in LANTERN.claims.items()}
    slow = next(claim for claim in claims if claim.startswith("Keeping two"))
    claims[slow].append(("holds", "Two readers do slow releases after all."))
    talk = replace(LANTERN, claims=claims)
    found, _ = await found_of(talk, group_of((*thread().items, turned)))
    assert Q_SLOW not in [one.question for one in found.candidates]
    side = AuthorSide("Ben Reed", found.books[0])
    assert next(one for one in side.signed.values() if one.claim.text == slow).stance == "holds"


@pytest.mark.parametrize(
    ("speakers", "fault"),
    [(("Ann", "Ann"), "only Ann speaks"), (("", ""), "cannot tell who speaks"), ((), "cannot tell who speaks")],
)
async def test_a_group_needs_two_people_who_are_told_apart(speakers: tuple[str, ...], fault: str) -> None:
    said = [
        Utterance(id=f"u{n}", source="x", speaker=who, text=f"Tolls are owed, {n}.") for n, who in enumerate(speakers)
    ]
    talk = replace(LANTERN, requests=[])
    with pytest.raises(CruxConfigurationError, match=fault):
        await divide(group_of(said), Questioner(talk.model(), seed=1))
    assert talk.requests == []


def crowd(people: int, claims: int) -> list[AuthorSide]:
    """Everybody holds or denies a claim of everybody's."""
    place = Place(item="u", start=0, end=1, quote="x")
    told = tuple(
        Claim(id=f"c{n}", text=f"claim {n} of the crowd about matter {n % 7}", kind="fact") for n in range(claims)
    )
    mentions = tuple(
        Mention(claim=f"c{n % claims}", author=f"P{n % people}", stance="holds" if n % 3 else "denies", place=place)
        for n in range(people * 3)
    )
    book = ClaimBook(claims=told, mentions=mentions)
    return [AuthorSide(f"P{n}", book) for n in range(people)]


def test_a_crowd_is_laid_out_quickly_and_what_is_left_out_is_counted() -> None:
    board = Board(crowd(3_000, 1_000))
    assert len(board.claims) == 4 * BLOCK and board.left_out == 200
    blocks = board.blocks()
    assert sorted(claim.id for lot in blocks for claim in lot) == sorted(claim.id for claim in board.claims)
    assert all(len(lot) <= BLOCK for lot in blocks)


def test_what_rests_on_a_claim_rests_on_what_says_the_same() -> None:
    ties = [("c1", "c2", "same"), ("c2", "c3", "supports"), ("c3", "c4", "supports")]
    book = ClaimBook(
        claims=tuple(Claim(id=f"c{n}", text=f"claim {n}", kind="fact") for n in range(1, 5)),
        relations=tuple(
            Relation.model_validate({"from_": a, "to": b, "kind": kind, "author": "Ann", "origin": "judged"})
            for a, b, kind in ties
        ),
    )
    assert book.dependants("c1") == ["c3", "c4"] == book.dependants("c2")


async def test_exports_say_a_denial_as_a_denial_whoever_else_holds_the_claim() -> None:
    found, _ = await found_of()
    argdown = claims_argdown(found)
    drop = next(claim.id for claim in found.books[0].claims if claim.text == DROP)
    assert f"[It is not so INI support should be dropped in Lantern 4 {drop}-not]" in argdown
    nodes = {node["nodeID"]: node["text"] for node in json.loads(claims_aif(found))["nodes"]}
    assert "Ben Reed: It is not so: INI support should be dropped in Lantern 4" in nodes.values()
    assert "Ada Quill: INI support should be dropped in Lantern 4" in nodes.values()
    assert TWICE in argdown


async def test_what_several_say_is_not_said_to_be_of_one_alone() -> None:
    found, _ = await found_of()
    told = comparison_markdown(found)
    assert "## Only" not in told and "## Ada Quill says besides" in told
    assert "1 says YES, 2 say NO. 2 claims rest on it." in told and "1 claim rests on it." in told


@pytest.mark.parametrize(
    "topic", ['"Fast" is bad?', "'Tis so?", "- drop it", "? why", "!so", "%a", "&b", "@all #1", "`x`"]
)
async def test_whatever_the_topic_every_form_can_be_read(topic: str) -> None:
    yaml = pytest.importorskip("yaml")
    found, _ = await found_of(topic=topic)
    head = claims_argdown(found).split("===\n")[1]
    assert set(yaml.safe_load(head)) == {"title"}


async def test_characters_that_xml_has_none_of_are_left_out_of_a_graph() -> None:
    found, _ = await found_of()
    damaged = found.model_dump_json().replace(DROP, "INI \\u0001\\u000bgoes")
    graph = ElementTree.fromstring(to_graphml(Comparison.model_validate_json(damaged)))
    assert "INI goes" in "".join(graph.itertext())


async def test_as_a_comment_of_a_thread_it_calls_nobody_and_runs_nothing() -> None:
    found, _ = await found_of()
    crux = found.candidates[0].model_copy(update={"question": "Does @ada-quill think <b>so</b> | or #12?"})
    comment = comparison_markdown(found.model_copy(update={"candidates": (crux,)}))
    assert "@ada" not in comment and "<b>so" not in comment and "#12" not in comment
