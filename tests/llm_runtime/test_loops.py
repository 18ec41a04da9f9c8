"""What is a loop, what only looks like one, and what is kept of an answer that ends in one."""

from __future__ import annotations

import asyncio
import itertools
import json
import random
from collections.abc import AsyncIterator

import pytest
from tests.extent import PATIENCE

from llm_runtime.errors import ReplyRepeats
from llm_runtime.http import Http
from llm_runtime.loops import Loops, before_the_loop
from llm_runtime.messages import CallLabel, Generate, Message, Request
from llm_runtime.providers.openai_compatible import openai_compatible
from llm_runtime.testing import LoopbackServer
from llm_runtime.wrappers.retrying import Backoff, retrying

SENTENCES = {
    "en": "The draft does not say who keeps the list, for how long, and who may read it once the work is done",
    "de": "Der Entwurf sagt nicht, wer die Liste führt, wie lange sie gilt und wer sie nach der Arbeit lesen darf",
    "fr": "Le projet ne dit pas qui tient la liste, combien de temps, ni qui peut la lire une fois le travail fini",
    "ru": "В проекте не сказано, кто ведёт список, как долго и кто может читать его после окончания работы",
    "ar": "لا يقول المشروع من يحتفظ بالقائمة ولا كم من الوقت ولا من يستطيع قراءتها بعد انتهاء العمل",
    "zh": "草案没有说明由谁保管名单、保管多久、工作结束后谁可以阅读它，也没有说明费用由谁承担",
}
WORDS = [
    "amber",
    "basalt",
    "cedar",
    "delta",
    "ember",
    "fjord",
    "garnet",
    "harbour",
    "iris",
    "juniper",
    "kelp",
    "larch",
    "maple",
    "nettle",
    "onyx",
    "pine",
]
#: In no order that comes again.
ROWS = random.Random(7).choices(WORDS, k=160)


def plans(sentence: str) -> list[str]:
    """Honest texts whose items differ in numbers, or in a word."""
    return [
        "\n".join(f"Week {n}: {sentence}, for {2 + n} km and {3 * n} minutes." for n in range(1, 53)),
        "\n\n".join(f"## {n}\n{sentence}: {n} of {90 - n}.\n- {n + 1} more" for n in range(1, 60)),
        "\n".join(f"| {n} | {sentence} | {n * 0.37:.2f} |" for n in range(80)),
        "\n".join(f"{n}. {sentence} ({word})." for n, word in enumerate(ROWS)),
        "\n".join(f"- {sentence}: {first} and {second}." for first, second in itertools.permutations(WORDS[:8], 2)),
        f"{sentence}. " * 8 + " ".join(f"{word} {n}." for n, word in enumerate(ROWS)),
    ]


CODE = [
    "\n".join(
        f"def test_row_{n}(client):\n    answer = client.get('/rows/{n}')\n    assert answer.status == 200\n"
        f"    assert answer.body == {{'id': {n}, 'name': 'row {n}'}}\n"
        for n in range(40)
    ),
    "\n".join(f'    ("{word}", {n}, True, "the {word} of row {n} is kept"),' for n, word in enumerate(ROWS)),
    "\n".join(f"INSERT INTO readings (place, value, seen) VALUES ('{word}', 0, NULL);" for word in ROWS),
    json.dumps([{"pair": n, "verdict": "unrelated", "why": SENTENCES["en"]} for n in range(60)], indent=1),
    json.dumps([{"verdict": "keeps", "why": "as the author says"} for _ in range(80)]),
    "[" + "null, " * 300 + "null]",
    "\n".join(f"case {n}: return handle_{n}(event, state, context); // {SENTENCES['en']}" for n in range(60)),
    "\n".join(f"<li><a href='/rooms/{n}'>{SENTENCES['fr']}</a></li>" for n in range(60)),
]
TABLES = [
    "\n".join(f"| {word} | supported | supported | partly | supported |" for word in ROWS),
    "| yes | no | yes | not tried yet |\n" * 120,
    "place\tyear\tkind\n" + "same place\tsame year\tsame kind\n" * 150,
    "\n".join(f"{word:<12}" + "".join(random.Random(word).choices(" ox", k=60)) for word in ROWS),
    "-" * 5_000,
    "0.0 " * 2_000,
]
VERSE = [
    "\n".join(
        f"On day {n} of the feast my true love gave me {WORDS[n % 16]},\n" + "and all of before,\n" * 3
        for n in range(1, 40)
    ),
    ("Kyrie eleison, Kyrie eleison, Kyrie eleison.\n" * 3 + "Christe eleison.\n" * 3) * 4,
    "\n".join(
        f"{99 - n} bottles on the wall, {99 - n} bottles; take one down, {98 - n} on the wall." for n in range(98)
    ),
    " ".join(f"{word} begat {after}, and" for word, after in itertools.pairwise(ROWS)),
]
HONEST = [*itertools.chain.from_iterable(map(plans, SENTENCES.values())), *CODE, *TABLES, *VERSE]
HONEST += [
    "\n".join(f"{n}. Boil the rice, drain it, and let it stand." for n in range(1, 80)),
    "\n".join(f"Q{n}: does {word} hold? A{n}: it holds, as that year shows." for n, word in enumerate(ROWS)),
    "\n".join(f"ALTER TABLE sales ADD COLUMN place_{n} TEXT NOT NULL DEFAULT 'none';" for n in range(90)),
]
HONEST += [
    "\n".join(
        f"INSERT INTO people (id, name, place, active) VALUES ({n}, 'nobody', 'nowhere', TRUE);" for n in range(400)
    ),
    "\n".join(f"{h:02}:{m:02} Bus 6 to the harbour" for h in range(5, 24) for m in range(0, 60, 10)),
    "\n".join(f"{h:02}.{m:02} From the station to the harbour" for h in range(5, 24) for m in (5, 25, 45)),
    "\n".join("." * 120 for _ in range(120)),
    "\n".join("|" + "   |" * 30 for _ in range(100)),
    "\n".join(" ".join("0" for _ in range(60)) for _ in range(120)),
    "\n".join("#" + "".join(random.Random(n).choices("# ", k=78)) + "#" for n in range(90)),
]
HONEST += [
    "\n".join(f"{n}. Keine Beanstandung, die Angabe stimmt mit dem Beleg der Akte überein." for n in range(1, 50)),
    "\n".join(f"**{n}.** Not answered: the page does not say anything about this question." for n in range(1, 50)),
    "│ supported │ supported │ partly │\n" * 60,
    "not stated,not stated,not stated,not stated\n" * 60,
]
#: One finding for all of many, with and without a number that counts on.
HONEST += [
    *("\n\n".join(f"{n}. {text}; {text}." for n in range(1, 16)) for text in SENTENCES.values()),
    *("\n".join(f"Claim {n}: {text}." for n in range(1, 71)) for text in SENTENCES.values()),
    "\n".join(f"Day {n}: walk for half an hour, then rest." for n in range(1, 366)),
    "\n".join("Not answered: the page does not say anything about it." for _ in range(30)),
    "Name: ______________________  Signature: ______________________\n" * 30,
    "\n".join("0, " * 99 + "0" for _ in range(50)),
]
HONEST += [
    "\n".join(random.Random(seed).sample(list(dict.fromkeys("\n".join(HONEST[seed : seed + 4]).splitlines())), 20))
    for seed in range(0, 36, 4)
]


def endless(begin: str, passage: str) -> tuple[str, str]:
    """Return what a model says before it repeats itself, and all that it says."""
    return begin + passage, begin + passage * (30_000 // len(passage))


def counted(mark: str, text: str) -> tuple[str, str]:
    items = [f"{mark.format(n)}{text}. {text}!\n" for n in range(1, 150)]
    return f"The points:\n{items[0]}", "The points:\n" + "".join(items)


def listed(mark: str, text: str) -> tuple[str, str]:
    """One sentence under the numbers of a list."""
    items = [f"{mark.format(n)}{text}.\n" for n in range(1, 400)]
    return f"Points:\n{items[0]}", "Points:\n" + "".join(items)


def deeper(text: str) -> tuple[str, str]:
    lines = [f"{'  ' * n}- {text}\n" for n in range(200)]
    return f"All points:\n{lines[0]}", "All points:\n" + "".join(lines)


SPOKEN = [endless(f"{sentence}? No. ", f"{sentence}! ") for sentence in SENTENCES.values()]
LOOPS = [
    *SPOKEN,
    endless("I think so. ", "and so on, and then again, "),
    endless("I think so. ", "so "),
    endless("I think so. ", "🎉"),
    endless("The sum is ", "0"),
    endless("My name: ", "_"),
    endless("The seventh is 0.", "142857"),
    endless("The column:\n", "0\n"),
    endless("The end.\n", "---\n"),
    endless("int main(void) {\n", "}\n"),
    endless("Well done!\n", "🎉\n"),
    endless("Beginning: ", "- "),
    endless('{"answer": "So it is",', "\n"),
    endless('{"answer": "So it is"', "\n\t  "),
    endless("The list:\n", "- check the door\n- check the window\n- check the door again\n"),
    endless("Two columns.\n", "| supported | supported |\n"),
    endless('{"claims": [', '{"text": "the sky is blue", "ok": true}, '),
    endless("```python\n", "    value = value.strip().lower().replace('-', '_')\n"),
    endless("He said this. ", "“It is as I have said before.” " + SENTENCES["en"] + ". "),
    endless("Begin.\n", "".join(f"{word} comes before the next one; " for word in WORDS)),
    counted("{}. ", SENTENCES["en"]),
    counted("**{}.** ", SENTENCES["de"]),
    counted("({}) ", SENTENCES["fr"]),
    counted("{}、", SENTENCES["zh"] * 2),
    counted("### {}. ", SENTENCES["ru"]),
    counted("Objection {}\n", SENTENCES["ar"]),
    *map(deeper, SENTENCES.values()),
    *(listed(mark, SENTENCES[tongue]) for mark, tongue in (("{}. ", "en"), ("- Item {}: ", "de"), ("({}) ", "fr"))),
]


def read(text: str) -> int | None:
    """Return after how many characters a loop is found."""
    loops = Loops()
    for start in range(0, len(text), 97):
        loops.read(text[start : start + 97])
        if loops.found:
            return start + 97
    return None


def test_sixty_honest_texts_are_no_loops_and_twenty_loops_are_found_and_cut() -> None:
    assert len(HONEST) >= 60
    assert len(LOOPS) >= 20
    assert [text[:80] for text in HONEST if read(text) is not None] == []
    for begin, text in LOOPS:
        found = read(text)
        assert found is not None and found < 20_000, text[:80]
        assert before_the_loop(text[:found]) == begin.strip(), "what is kept is said once"


def test_where_a_text_is_cut_into_pieces_is_nothing_to_a_loop() -> None:
    passage = "Supported: the quoted source says this in the same words. "
    for times in range(18, 30):
        text = passage * times + "So all of the claims hold, and the report can be sent. " * 3
        found = set[bool]()
        for size in (1, 3, 7, 31, 97, 133, 250, 399):
            loops = Loops()
            seen = False
            for start in range(0, len(text), size):
                loops.read(text[start : start + size])
                seen = seen or loops.found
            found.add(seen)
        assert len(found) == 1, times


REQUEST = Request("m", (Message("user", "?"),), label=CallLabel("test", "ask"))


@pytest.fixture
async def http() -> AsyncIterator[Http]:
    http = Http()
    yield http
    await http.aclose()


def asked(server: LoopbackServer, http: Http) -> Generate:
    return retrying(openai_compatible(server.endpoint(), http), Backoff(base=0))


async def test_a_model_that_loops_twice_is_heard_up_to_its_loop(http: Http) -> None:
    begin, text = SPOKEN[0]
    async with LoopbackServer(text, piece=97) as server, asyncio.timeout(PATIENCE):
        reply = await asked(server, http)(REQUEST)
    assert (reply.text, reply.attempts, reply.finish_reason) == (begin.strip(), 2, "stop")
    assert "repeated one passage" in reply.repairs[0]


async def test_an_answer_that_its_limit_cut_in_a_loop_is_one_that_repeats_itself(http: Http) -> None:
    begin, text = SPOKEN[1]
    whole = {
        "choices": [{"message": {"content": text[:5_000]}, "finish_reason": "length"}],
        "usage": {"prompt_tokens": 3, "completion_tokens": 900},
    }
    async with LoopbackServer(whole) as server, asyncio.timeout(PATIENCE):
        reply = await asked(server, http)(REQUEST)
    assert (reply.text, reply.attempts) == (begin.strip(), 2)


async def test_an_answer_that_is_said_again_and_again_is_kept_once(http: Http) -> None:
    answer = '{"answer": "The draft keeps no list.", "why": "' + ", ".join(SENTENCES.values()) + '"}'
    async with LoopbackServer(f"{answer}\n" * 60, piece=97) as server, asyncio.timeout(PATIENCE):
        reply = await asked(server, http)(REQUEST)
    assert (reply.text, reply.attempts) == (answer, 2)


async def test_a_model_that_says_nothing_before_its_loop_has_not_answered(http: Http) -> None:
    async with LoopbackServer(f"{SENTENCES['en']}. " * 300, piece=97) as server, asyncio.timeout(PATIENCE):
        with pytest.raises(ReplyRepeats):
            await asked(server, http)(REQUEST)
