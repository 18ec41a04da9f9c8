"""Finding the sentence: by words in any script, by meaning where a model is named, and again from what was kept."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from aiohttp import web
from bench.debates import questions
from bench.questions import QUESTIONS

from crux.config import CruxConfigurationError
from crux.personas.corpus import Corpus, make_corpus
from crux.quotes import spans
from crux.retrieval import index as index_module
from crux.retrieval.embed import EndpointEmbed, embed_of
from crux.retrieval.grounding import Grounding
from crux.retrieval.index import Index
from crux.retrieval.lexical import Lexical
from crux.sources.utterance import Utterance
from llm_runtime.endpoints import Endpoint
from llm_runtime.http import Http

pytest.importorskip("bm25s", reason="retrieval needs the extra 'debate'")


def corpus_of(*texts: str, title: str = "") -> Corpus:
    return make_corpus(
        Utterance(id=f"t{number}", source="essay", title=title, text=text) for number, text in enumerate(texts)
    )


def grounding(corpus: Corpus) -> Grounding:
    person: Any = SimpleNamespace(corpus=corpus, beliefs=None, name="Ann Ash")
    return Grounding(person)


def test_what_is_nearest_comes_first_and_nothing_is_found_of_nothing() -> None:
    index = Lexical.of(["the toll on the bridge", "the bridge toll", "a stair that fell", "the the the"])
    assert [place for place, _ in index.nearest("bridge toll", 3)] == [1, 0]
    assert index.nearest("nothing known", 3) == [] and index.nearest("bridge", 0) == []
    assert Lexical.of([]).nearest("bridge", 3) == [] and index.nearest("", 3) == []
    assert index.likeness("toll bridge", "the toll, the bridge") > index.likeness("toll bridge", "a stair")


@pytest.mark.parametrize(
    ("language", "text", "question", "foreign"),
    [
        (
            "ru",
            "Платный въезд в центр города сокращает пробки. Поэтому плата за въезд несправедлива к бедным жителям.",
            "Справедлива ли плата за въезд в город для бедных?",
            "Полезны ли прививки детям младшего возраста?",
        ),
        (
            "zh",
            "城市拥堵费减少了交通。付不起钱的人只能待在家里。因此拥堵费对郊区穷人不公平。",
            "对进城车辆收取拥堵费是否公平？",
            "核能发电安全吗？",
        ),
        (
            "ar",
            "تقلل رسوم الدخول إلى المدينة من الازدحام. لذلك فإن الرسوم ظالمة لفقراء الضواحي.",
            "هل رسوم دخول المدينة عادلة للفقراء؟",
            "هل اللقاحات آمنة للأطفال؟",
        ),
        (
            "ja",
            "都市の渋滞税は交通量を減らした。払えない人は家にいるしかない。だから渋滞税は郊外の貧しい人に不公平だ。",
            "渋滞税は貧しい人に公平か？",
            "原子力発電所は安全だろうか？",
        ),
        (
            "hi",
            "शहर में प्रवेश शुल्क से भीड़ कम होती है। जो भुगतान नहीं कर सकते वे घर पर रहते हैं।",
            "क्या शहर का प्रवेश शुल्क उचित है?",
            "क्या टीके बच्चों के लिए सुरक्षित हैं?",
        ),
    ],
)
async def test_every_script_is_found_on_its_own_topic_and_on_no_other(
    language: str, text: str, question: str, foreign: str
) -> None:
    own = grounding(corpus_of(text))
    assert own.index.lexical.language == language
    grounds = await own.grounds(question)
    assert not grounds.outside and grounds.sentences
    assert all(found.place.quote in text for found in grounds.sentences)
    assert (await own.grounds(foreign)).outside


async def test_a_turn_gets_the_sentence_that_bears_on_it_with_its_neighbours() -> None:
    pad = " ".join(f"On day {number} the market of the town was open as it had always been." for number in range(12))
    text = f"{pad} Some hold that tolls are theft. They are wrong. A toll pays for the bridge it is taken on. {pad}"
    (first, *_) = await Index(corpus_of(text)).sentences("Does a toll pay for the bridge?", 3)
    assert first.place.quote == "A toll pays for the bridge it is taken on."
    assert first.around.quote.startswith("They are wrong. A toll pays")
    assert text[first.around.start : first.around.end] == first.around.quote


async def test_words_that_the_source_marks_as_anothers_are_never_the_authors_own() -> None:
    theirs, own = ("Tolls on a bridge are theft from the poor.", "A toll on a bridge is a fair price for the poor too.")
    item = Utterance(id="a", source="essay", text=f"{theirs}\n\n{own}", quoted=((0, len(theirs)),))
    found = await Index(make_corpus([item])).sentences("Is a toll on a bridge theft from the poor?")
    assert [sentence.place.quote for sentence in found] == [own]


def test_sentences_end_where_a_reader_ends_them() -> None:
    for text, count in (
        ("Mr. Ash of the U.S. Senate came. He left.", 2),
        ("He said — and meant it — that no. 5 was his. Good.", 2),
        ("Первое предложение. Второе!", 2),
        ("第一句话在这里。第二句话也在这里！", 2),
        ("", 0),
    ):
        found = spans(text)
        assert len(found) == count and all(text[start:end].strip() == text[start:end] for start, end in found)


def children(folder: Path) -> list[Path]:
    return sorted(folder.iterdir())


def times(folder: Path) -> dict[Path, int]:
    return {file: file.stat().st_mtime_ns for file in children(folder)}


async def test_the_index_of_a_large_corpus_is_kept_and_one_that_is_damaged_is_made_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(index_module, "_WORTH_KEEPING", 2)
    corpus = corpus_of("A toll on a bridge.", "A stair that fell.", "A queue at the counter.")
    first = await Index(corpus, tmp_path).passages("the bridge toll")
    (kept,) = children(tmp_path)
    written = times(kept)
    assert await Index(corpus, tmp_path).passages("the bridge toll") == first
    assert times(kept) == written
    (kept / "index.json").write_text("{")
    assert await Index(corpus, tmp_path).passages("the bridge toll") == first


class Meaning:
    """Knows that a levy is a toll, and no words at all."""

    name = "meaning"

    def __init__(self) -> None:
        self.asked = 0

    async def vectors(self, texts: Sequence[str], role: str) -> Sequence[Sequence[float]]:
        self.asked += len(texts)
        return [
            [float("toll" in text.lower() or "levy" in text.lower()), float("stair" in text.lower()), 0.1]
            for text in texts
        ]


async def test_a_model_of_meaning_finds_what_shares_no_word_and_is_asked_once_for_each_text(tmp_path: Path) -> None:
    corpus = corpus_of("The stair fell upon a child.", "The toll on Rope Bridge rose last year.", "Rain came at noon.")
    meaning = Meaning()
    for _ in range(2):
        found = await Index(corpus, tmp_path, meaning).sentences("Is a levy fair?", 1)
        assert [one.place.quote for one in found] == ["The toll on Rope Bridge rose last year."]
    # Passages and sentences once; the question for its passages and its sentences, each time.
    assert meaning.asked <= 6 + 2 * 4
    assert await Index(corpus).sentences("Is a levy fair?") == []


async def test_an_endpoint_is_asked_for_vectors_and_a_wrong_answer_is_one_line() -> None:
    async def two(request: web.Request) -> web.Response:
        assert (await request.json())["model"] == "small"
        return web.json_response({"data": [{"index": 1, "embedding": [0, 1]}, {"index": 0, "embedding": [1, 0]}]})

    app = web.Application()
    app.router.add_post("/v1/embeddings", two)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    http = Http()
    embed = EndpointEmbed(http, Endpoint("local", f"http://127.0.0.1:{runner.addresses[0][1]}/v1"), "small")
    assert await embed.vectors(["a", "b"], "passage") == [[1.0, 0.0], [0.0, 1.0]]
    with pytest.raises(CruxConfigurationError, match="no vector for each of 1 texts"):
        await embed.vectors(["a"], "query")
    await http.aclose()
    await runner.cleanup()
    with pytest.raises(CruxConfigurationError, match="none of none, endpoint:MODEL"):
        embed_of("word2vec")


def test_at_least_17_of_28_questions_find_their_passage_among_the_first_ten(shared: Path) -> None:
    ratification = shared / "corpora" / "ratification"
    if not ratification.is_dir():
        pytest.skip("the essays of the ratification debate are not on this machine")
    ten, four = questions(ratification)
    assert len(QUESTIONS) == 28 and ten >= 17 and four >= 16
