"""What a turn is given to reason from: own words that bear on the claim, and nobody else's."""

from __future__ import annotations

from typing import Any
from unicodedata import normalize

import pytest

from crux.behaviour import BEHAVIOUR
from crux.personas.contract import SAMPLE_TOKENS, sample
from crux.personas.corpus import make_corpus
from crux.personas.persona import Persona
from crux.quotes import find_quote, opens_quoted
from crux.retrieval.grounding import Grounding
from crux.sources.utterance import Utterance
from llm_runtime.behaviour import behaving
from llm_runtime.tokens import estimate_tokens


def test_a_contract_is_drawn_from_whole_texts_and_not_from_their_beginnings() -> None:
    rest = "It goes on about tolls and queues. " * 40

    def essay(number: int) -> Utterance:
        text = "\n\n".join(f"Paragraph {place} of essay {number}. {rest}" for place in range(30))
        return Utterance(id=f"t{number}", source="essay", date=f"2020-01-0{number}", title=f"T{number}", text=text)

    corpus = make_corpus(map(essay, range(1, 4)))
    shown = sample(corpus)
    assert estimate_tokens(shown) <= SAMPLE_TOKENS
    assert "Paragraph 29 of essay 3" in shown and "[...]" in shown
    assert [f"[2020-01-0{n}] T{n}" in shown for n in range(1, 4)] == [True, True, True]
    whole = "".join(item.text for item in corpus.items)
    assert all(part.split("\n", 1)[-1].strip() in whole for part in shown.split("\n\n[...]\n\n")[1:2])


@pytest.mark.parametrize(
    ("text", "quoted"),
    [
        ("He wrote: “A toll leaves money. It is a price.” I doubt it.", [False, True, False]),
        ('He wrote: "A toll leaves money. It is a price." I doubt it.', [False, True, False]),
        ("A “price” it is. It is a price.", [False, False]),
        ("“Left open here.\n\nI go on myself.", [True, False]),
        ("Er: „Ein Zoll bleibt. It is a price.“ I doubt it.", [False, True, False]),
        ("Er: »Ein Zoll bleibt. It is a price.« I doubt it.", [False, True, False]),
        ("Il dit : « Un péage. It is a price. » I doubt it.", [False, True, False]),
        ("彼は「残せ。It is a price.」と言う。I doubt it.", [False, True, False]),
        ('A 5" pipe. It is a price. I doubt it.', [False, False, False]),
    ],
)
def test_sentences_in_quotation_marks_are_not_the_authors_own(text: str, quoted: list[bool]) -> None:
    starts = [0, *(at for at in map(text.find, ("It is a", "I doubt", "I go")) if at > 0)]
    assert [opens_quoted(text, at) for at in starts] == quoted


@pytest.mark.parametrize(
    ("text", "quote", "found"),
    [
        (normalize("NFD", "Le péage a été ôté."), "Le péage a été ôté", normalize("NFD", "Le péage a été ôté")),
        ("The oﬃce of ﬁnal aﬀairs closes.", "office of final affairs", "oﬃce of ﬁnal aﬀairs"),
        ("An extra\xadordinary\u200b toll.", "extraordinary toll", "extra\xadordinary\u200b toll"),
        ("A toll – and a tax… is it?", "A toll - and a tax... is", "A toll – and a tax… is"),
        ("甲：大桥应当\n收费，因为它旧。", "大桥应当收费，因为它旧", "大桥应当\n收费，因为它旧"),
        ("我反对。大桥应当收费。", "大桥应当收费。", "大桥应当收费。"),
        ("يبقى الجســر \u200fمجانيا للجميع", "الجسر مجانيا للجميع", "الجســر \u200fمجانيا للجميع"),
        ("An old tollhouse stands.", "An old toll house stands", ""),
        ("Le péage a été ôté.", "Le peage a ete ote", ""),
    ],
)
def test_a_quotation_is_found_whatever_way_its_letters_are_written(text: str, quote: str, found: str) -> None:
    span = find_quote(quote, text)
    assert (text[slice(*span)] if span else "") == found
    with behaving([(BEHAVIOUR, 6)]):
        assert find_quote(quote, text) is None  # as the logs of before have it


async def test_words_of_somebody_else_are_never_shown_as_the_persons_own(small_persona: Any) -> None:
    persona: Persona = await small_persona(
        "Ann Ash",
        "Montes writes of tolls. “A toll on the bridge always ruins the poor of the town. So it was always.” "
        "A toll on the bridge did not ruin the poor of this town, and the count of the carts shows it.",
    )
    found = await Grounding(persona).quotes("Does a toll on the bridge ruin the poor of the town?", 5)
    assert found and all("always ruins" not in place.quote and "So it was" not in place.quote for place in found)


async def test_a_question_in_the_singular_finds_what_was_written_in_the_plural(small_persona: Any) -> None:
    persona: Persona = await small_persona("Ann Ash", "Bridges decay when tolls are farmed out to brokers.", "Rain.")
    grounds = await Grounding(persona).grounds("Should a toll be farmed out to a broker?")
    assert not grounds.outside and grounds.chunks[0].text.startswith("Bridges")


async def test_the_first_turn_in_a_room_knows_the_clash_that_led_to_it(
    authors: list[Persona], hold: Any, scripts: Any
) -> None:
    held = await hold(authors)
    first = next(request for request in held.model.requests if request.label.phase == "room_position")
    clash = scripts.block(first, "THE CLASH BEFORE THIS ROOM")
    assert "Turn clash 1 of A" in clash and "Speaker B" in clash
    later = [request for request in held.model.requests if request.label.phase == "room_exchange"]
    assert all(not scripts.block(request, "THE CLASH BEFORE THIS ROOM") for request in later)
