"""Readings that are checked: texts that change keep their claims, two readers must agree, a judge is tried."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pytest
from tests.crux.conftest import lines_of

from crux.book import Claim, ClaimBook, Correction, Mention, Stance, moved
from crux.claims.judge import Judge, Pair, carries
from crux.claims.known import KnownPair, drawn
from crux.claims.reading import read_book
from crux.personas.importing import import_corpus
from crux.personas.persona import PersonaError
from crux.personas.store import PersonaStore, StoredCorpus
from crux.requests import Questioner
from llm_runtime.messages import Request
from llm_runtime.testing import ScriptedModel

pytest.importorskip("bm25s", reason="reading needs the extra 'debate'")

ADA = "Ada Quill"
#: What stands in Ada's posts, by words that no edit below touches: the claim.
CLAIMS = {
    "plugin API": "The plugin API must go",
    "forty teams": "Forty teams can move within a year",
    "old parser": "The old parser should stay",
    "release day": "Releases should be made on Mondays",
    "slow tests": "Slow tests should run at night only",
    "shared cache": "The shared cache is a danger",
    "small patches": "Small patches are read sooner",
    "written minutes": "Every meeting should have written minutes",
}
POSTS = (
    "The plugin API must go. It costs us two days a week, and nobody counts them.\n\n"
    "Most of the forty teams can move within a year. We did it in 2019.",
    "The old parser should stay, for it is right.\n\nOur release day ought to be Monday. A week is long enough.\n\n"
    "All slow tests should run at night.",
    "The shared cache is a danger to us all. It was so before.\n\nI say that small patches are read sooner.\n\n"
    "Every meeting should have written minutes. I have asked for them since May.",
)
FILLER = " ".join(
    f"This is sentence {n} of a long passage about nothing that anybody would dispute." for n in range(30)
)


def read(request: Request) -> str:
    """An honest reader: each sentence with a claim, its stance by its "not"."""
    known = {one["claim"]: one["id"] for one in lines_of(request, "CLAIMS SO FAR")}
    passages: list[dict[str, Any]] = []
    for passage in lines_of(request, "PASSAGES"):
        claims: list[dict[str, Any]] = []
        for sentence in re.split(r"(?<=[.!?])\s+", passage["text"]):
            for words, text in CLAIMS.items():
                if words in " ".join(sentence.split()):
                    ids = {"ref": known[text]} if text in known else {"id": f"n{len(claims)}", "text": text}
                    claims.append({**ids, "stance": stance_of(sentence), "quote": sentence, "kind": "proposal"})
        passages.append({"id": passage["id"], "claims": claims, "none": "" if claims else "nothing"})
    return json.dumps({"passages": passages})


def stance_of(sentence: str) -> Stance:
    return "denies" if re.search(r"\b(?:not|never|false)\b", sentence) else "holds"


def read_again(request: Request) -> str:
    """An honest second reader."""
    said = [{"id": one["id"], "stance": stance_of(one["place"])} for one in lines_of(request, "PLACES")]
    return json.dumps({"stances": said})


class Shelf:
    """A folder of posts, and a store that they are imported into and read from."""

    def __init__(self, root: Path, posts: tuple[str, ...]) -> None:
        self.folder, self.store = root / "posts", PersonaStore(root / "people")
        self.folder.mkdir()
        for number, post in enumerate(posts, start=1):
            (self.folder / f"2026-01-0{number}-post-{number}.md").write_text(post, "utf-8")
        self.passages: list[str] = []

    async def look(self) -> ClaimBook:
        found = import_corpus(self.folder)
        self.store.add_corpus(StoredCorpus(name=ADA, corpus=found.corpus))
        model = ScriptedModel({"reading": read, "stances": read_again})
        book, unread = await read_book(
            ADA, found.corpus, Questioner(model, seed=7, tokens_a_call=600), self.store.book(ADA)
        )
        assert not unread
        asked = [one for one in model.requests if one.label.phase == "reading"]
        self.passages = [passage["text"] for one in asked for passage in lines_of(one, "PASSAGES")]
        self.store.save_beside("books", ADA, book)
        return book


def every(change: Callable[[str], str]) -> Callable[[Path], None]:
    def edit(folder: Path) -> None:
        for file in folder.iterdir():
            file.write_text(change(file.read_text("utf-8")), "utf-8")

    return edit


def first(change: Callable[[str], str]) -> Callable[[Path], None]:
    def edit(folder: Path) -> None:
        file = min(folder.iterdir())
        file.write_text(change(file.read_text("utf-8")), "utf-8")

    return edit


def renamed(folder: Path) -> None:
    for file in list(folder.iterdir()):
        file.rename(file.with_name(file.name.replace("post", "essay")))


def joined(folder: Path) -> None:
    files = sorted(folder.iterdir())
    files[0].write_text("\n\n".join(file.read_text("utf-8") for file in files), "utf-8")
    for file in files[1:]:
        file.unlink()


def as_html(folder: Path) -> None:
    for file in list(folder.iterdir()):
        paragraphs = "".join(f"<p>{part}</p>" for part in file.read_text("utf-8").split("\n\n"))
        file.with_suffix(".html").write_text(f"<main>{paragraphs}</main>", "utf-8")
        file.unlink()


def with_id(folder: Path) -> None:
    for number, file in enumerate(sorted(folder.iterdir())):
        file.write_text(f"---\nid: guid-{number}\ntitle: A new title\n---\n\n{file.read_text('utf-8')}", "utf-8")


NOTICE = "Notice of March: this post was moved from another place."
#: An edit, and whether it may cost the reading of a passage that was read before.
EDITS: dict[str, tuple[Callable[[Path], None], bool]] = {
    "a notice above": (every(lambda text: f"{NOTICE}\n\n{text}"), True),
    "a notice below": (every(lambda text: f"{text}\n\n{NOTICE}"), True),
    "a notice within": (every(lambda text: text.replace("\n\n", f"\n\n{NOTICE}\n\n", 1)), True),
    "a line put before a sentence": (every(lambda text: f"By the way. {text}"), True),
    "other line breaks": (every(lambda text: text.replace(". ", ".\n").replace(" the ", "\nthe ")), False),
    "Windows line ends": (every(lambda text: text.replace("\n", "\r\n")), False),
    "curly marks": (every(lambda text: text.replace("'", "’")), False),
    "another name of the file": (renamed, False),
    "a new id and title": (with_id, False),
    "all in one file": (joined, False),
    "as HTML": (as_html, False),
    "paragraphs in another order": (every(lambda text: "\n\n".join(reversed(text.split("\n\n")))), False),
    "paragraphs joined": (every(lambda text: text.replace("\n\n", " ")), False),
    "sentences parted": (every(lambda text: text.replace(". ", ".\n\n")), False),
    "a typo mended within a claim": (first(lambda text: text.replace("must go", "must go now")), True),
    "a word added to every claim": (every(lambda text: text.replace("should", "really should")), True),
    "a comma": (every(lambda text: text.replace(" is ", ", is ")), True),
    "a sentence taken out that has no claim": (every(lambda text: text.replace(" We did it in 2019.", "")), False),
    "a post added": (lambda folder: write(folder, "A new post about gardens."), True),
    "a sentence twice": (first(lambda text: f"{text}\n\n{text.split('. ')[0]}."), False),
}


def write(folder: Path, text: str) -> None:
    (folder / "2026-05-01-new.md").write_text(text, "utf-8")


@pytest.mark.parametrize("long", [False, True])
@pytest.mark.parametrize("name", EDITS)
async def test_an_edit_loses_no_claim_and_is_no_news(tmp_path: Path, name: str, long: bool) -> None:
    posts = tuple(post.replace("\n\n", f"\n\n{FILLER}\n\n") for post in POSTS) if long else POSTS
    shelf = Shelf(tmp_path, posts)
    before = await shelf.look()
    assert len(before.signed_by(ADA)) == len(CLAIMS)

    edit, costs = EDITS[name]
    edit(shelf.folder)
    after = await shelf.look()

    assert {one.claim.text for one in after.signed_by(ADA)} == set(CLAIMS.values())
    assert {one.claim.id for one in after.signed_by(ADA)} == {one.claim.id for one in before.signed_by(ADA)}
    assert moved(before, after, ADA) == []
    texts = import_corpus(shelf.folder).corpus.by_id
    for mention in after.mentions:
        assert texts[mention.place.item].text[mention.place.start : mention.place.end] == mention.place.quote
    assert costs or not shelf.passages, shelf.passages
    again = await shelf.look()
    assert again.mentions == after.mentions and not shelf.passages
    assert len({(one.claim, one.place.item, one.place.start) for one in after.mentions}) == len(after.mentions)


@pytest.mark.parametrize("words", list(CLAIMS)[:5])
@pytest.mark.parametrize("anew", [True, False])
async def test_a_change_of_mind_is_told(tmp_path: Path, words: str, anew: bool) -> None:
    shelf = Shelf(tmp_path, POSTS)
    before = await shelf.look()
    denial = f"I was wrong about it. What I said of the {words} is not so."
    if anew:
        write(shelf.folder, denial)
    else:
        for file in shelf.folder.iterdir():
            sentences = re.split(r"(?<=\.)\s+", file.read_text("utf-8"))
            file.write_text("\n\n".join(denial if words in one else one for one in sentences), "utf-8")
    after = await shelf.look()
    (change,) = moved(before, after, ADA)
    assert (change.claim.text, change.before, change.after) == (CLAIMS[words], "holds", "denies")
    assert "I was wrong" in change.place.shown
    signed = after.signed(change.claim.id, ADA)
    assert signed.words() == f"It is not so: {CLAIMS[words]}"
    assert signed.history == ("held until 2026-05-01" if anew else "")


# --- two readers

#: A passage, what a hostile first reader quotes of it as held, and what an honest second reader says.
HOSTILE: tuple[tuple[str, str, Stance], ...] = tuple(
    (frame.format(claim=claim, Claim=claim[0].upper() + claim[1:]), claim, honest)
    for claim in (
        "the bridge should be free for all",
        "every toll is a theft from the poor",
        "the council must sell the old market hall",
        "night trains are better than any plane",
        "our schools need a longer summer",
        "the library ought to close on Sundays",
    )
    for frame, honest in (
        ("It is false that {claim}. So much is plain.", "denies"),
        ("Some people say that {claim}. I shall come to them.", "reports"),
        ("If {claim}, then pigs will fly over the town.", "reports"),
        ("Is it true that {claim}? I leave this open.", "asks"),
        ("Oh yes, {claim}, and the moon is made of cheese.", "denies"),
        ("I used to think that {claim}. I do not think so any more.", "denies"),
        ("Nobody in the town believes that {claim}. Nor do I.", "denies"),
        ("Her letter reads: {claim}. That is her letter, not mine.", "reports"),
        ("One might suppose that {claim}. One would be mistaken.", "denies"),
        ("Until 2019 the rule was that {claim}. It was repealed.", "reports"),
    )
)


async def test_a_hostile_reading_does_not_enter_as_held(tmp_path: Path) -> None:
    """The second reader is honest, and scripted: it is given by hand what stands in each passage."""
    assert len(HOSTILE) == 60
    held: list[str] = []
    for number, (passage, claim, honest) in enumerate(HOSTILE):
        folder = tmp_path / str(number)
        folder.mkdir()
        (folder / "a.md").write_text(passage, "utf-8")
        entry = {"id": "n1", "text": claim, "stance": "holds", "quote": claim, "kind": "value"}
        answers = {
            "reading": json.dumps({"passages": [{"id": "p1", "claims": [entry]}]}),
            "stances": json.dumps({"stances": [{"id": 1, "stance": honest}]}),
        }
        model = ScriptedModel(answers)
        book, _ = await read_book("Ann", import_corpus(folder).corpus, Questioner(model, seed=1))
        (mention,) = book.mentions
        # Whatever was cut out of it, the whole sentence is shown, to the second reader and to everybody.
        assert mention.place.quote in passage and mention.place.quote[-1] in ".?"
        asked = next(one for one in model.requests if one.label.phase == "stances")
        assert "holds" not in json.dumps(lines_of(asked, "PLACES"))
        held += [passage] if mention.stance == "holds" else []
    assert len(held) <= 5, held


async def test_a_second_reader_who_is_silent_changes_nothing_and_one_who_agrees_is_noted(tmp_path: Path) -> None:
    shelf = Shelf(tmp_path, POSTS[:1])
    book = await shelf.look()
    assert {one.readings for one in book.mentions} == {("holds", "holds")}
    corpus = import_corpus(shelf.folder).corpus
    silent = ScriptedModel({"reading": read, "stances": "I would rather not."})
    unread, _ = await read_book(ADA, corpus, Questioner(silent, seed=7))
    assert {one.stance for one in unread.mentions} == {"holds"} and {one.readings for one in unread.mentions} == {None}


async def test_a_quotation_over_two_passages_is_found_and_a_short_one_is_shown_with_its_neighbour(
    tmp_path: Path,
) -> None:
    words = "We tried the bridge for a year. This is sufficient."
    (tmp_path / "a.md").write_text(words, "utf-8")
    entry = {"id": "n1", "text": "A year is enough", "stance": "holds", "quote": "This is sufficient", "kind": "fact"}
    answers = {
        "reading": json.dumps({"passages": [{"id": "p1", "claims": [entry]}]}),
        "stances": '{"stances": [{"id": 1, "stance": "holds"}]}',
    }
    corpus = import_corpus(tmp_path).corpus
    book, _ = await read_book("Ann", corpus, Questioner(ScriptedModel(answers), seed=1))
    (mention,) = book.mentions
    assert (mention.place.quote, mention.place.shown) == ("This is sufficient.", words)


# --- a judge on trial


def verdicts(request: Request, wrong: float, lot: Random) -> str:
    """An honest judge of the known pairs, who errs on a share of all."""
    answers = {(one.premise, one.claim): one.kinds[0] for _, one in known()}
    said: list[dict[str, Any]] = []
    for one in lines_of(request, "PAIRS"):
        kind = answers.get((one["premise"], one["claim"]), "unrelated")
        if lot.random() < wrong:
            kind = "contradicts" if kind in ("unrelated", "same", "entails") else "unrelated"
        said.append({"pair": one["pair"], "kind": kind, "span": one["premise"]})
    return json.dumps({"verdicts": said})


def known() -> list[tuple[int, KnownPair]]:
    return [pair for seed in range(60) for pair in drawn(seed, "x", 5)]


@pytest.mark.parametrize("wrong", [0.0, 0.3])
async def test_a_judge_who_is_often_wrong_is_told(wrong: float) -> None:
    told = 0
    for run in range(20):
        lot = Random(run)
        model = ScriptedModel({"judge": lambda request, lot=lot: verdicts(request, wrong, lot)})
        judge = Judge(Questioner(model, seed=run))
        pairs = [Pair(f"The premise of number {n} is long.", f"Claim of number {n}") for n in range(24 * 9)]
        await judge.relate(pairs, "trial")
        assert judge.trial.asked == 27 and len(judge.judged) == len(pairs)
        told += bool(judge.trial.told)
        assert f"{judge.trial.right} of 27" in judge.trial.line()
    assert told == (20 if wrong else 0)


@pytest.mark.parametrize(
    ("span", "fits"),
    [
        ("nobody takes it at night", True),
        ("The ferry", True),
        ("i", False),
        ("because", False),
        ("The ferry should stop, because nobody takes it at night", True),
    ],
)
def test_words_that_are_named_say_something_of_the_claim(span: str, fits: bool) -> None:
    premise = "The ferry should stop, because nobody takes it at night."
    assert carries(span, premise, "No ferry is needed at night") is fits


# --- what people say of a book


async def test_what_people_say_of_a_book_is_kept_by_every_later_reading(tmp_path: Path) -> None:
    shelf = Shelf(tmp_path, POSTS)
    book = await shelf.look()
    keys = {claim.text: claim.id for claim in book.claims}
    gone, twin, kept, disowned = (
        keys[CLAIMS[words]] for words in ("plugin API", "old parser", "release day", "slow tests")
    )
    store = shelf.store
    store.correct(ADA, Correction(what="reject", claim=gone, at="2026-02-01"))
    store.correct(ADA, Correction(what="merge", claim=twin, into=kept))
    store.correct(ADA, Correction(what="not_said", claim=disowned, author=ADA))
    cache = keys[CLAIMS["shared cache"]]
    store.correct(ADA, Correction(what="accept", claim=cache, author=ADA, stance="denies"))
    with pytest.raises(PersonaError, match="no claim c-none"):
        store.correct(ADA, Correction(what="reject", claim="c-none"))

    write(
        shelf.folder,
        "Once more: the plugin API must go. The old parser should stay. All slow tests should run at night.",
    )
    after = await shelf.look()

    held = {one.claim.id: one for one in after.signed_by(ADA)}
    assert not {gone, twin, disowned} & set(held)
    assert held[cache].stance == "denies"
    assert "The old parser should stay" in held[kept].claim.aliases and len(held[kept].series) == 3


def test_a_merge_in_a_ring_ends() -> None:
    from crux.corrections import corrected

    claims = tuple(Claim(id=key, text=key, kind="fact") for key in ("c-a", "c-b"))
    place: Any = {"item": "t", "start": 0, "end": 1, "quote": "q"}
    mention = Mention.model_validate({"claim": "c-a", "author": "x", "stance": "holds", "place": place})
    book = corrected(
        ClaimBook(claims=claims, mentions=(mention,)),
        [Correction(what="merge", claim="c-a", into="c-b"), Correction(what="merge", claim="c-b", into="c-a")],
    )
    assert len(book.mentions) == 1
