"""From a thread to the few questions that divide it: matrix, cruxes, what is common, what would settle them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from tests.crux.spoken import LANTERN, Q_CONVERT, Q_MAJOR, Q_MOST, Q_SLOW, Talk

from crux.comparison import Comparison
from crux.divide import MOST_CALLS, divide, group_of
from crux.personas.corpus import Corpus
from crux.sources import read_place
from llm_runtime.tokens import estimate_tokens

pytest.importorskip("bm25s", reason="divide needs the extra 'debate'")

THREAD = Path(__file__).with_name("lantern.jsonl")


def thread() -> Corpus:
    return group_of(read_place(THREAD).utterances)


async def found_of(talk: Talk, texts: Corpus) -> Comparison:
    return await divide(texts, generate=talk.model(), seed=1)


async def test_a_thread_of_thirty_comments_comes_down_to_its_cruxes() -> None:
    talk, texts = replace(LANTERN, requests=[]), thread()
    found = await found_of(talk, texts)
    assert found.decision == "Should Lantern 4 drop INI files?"
    assert [one.question for one in found.candidates] == [Q_CONVERT, Q_MAJOR, Q_SLOW, Q_MOST]
    assert all(one.confirmed for one in found.candidates)
    crux = found.candidates[0]
    assert {view.author: view.answer for view in crux.sides} == {"Ema Ford": "YES", "Finn Roe": "NO"}
    assert crux.side("NO")[0].places[0].quote.startswith("A converter cannot translate every INI file")

    reading = [phase for phase, _ in talk.requests].count("reading")
    text = sum(estimate_tokens(item.text) for item in texts.items)
    assert len(talk.requests) <= reading + MOST_CALLS
    assert talk.tokens() <= 4 * text, (talk.tokens() / text, talk.requests)
