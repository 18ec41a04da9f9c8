"""A count of tokens that the words do not allow is no count: the estimate is booked in its place, and marked."""

from __future__ import annotations

import pytest

from llm_runtime.messages import CallLabel, Message, Reply, Request, Usage
from llm_runtime.providers.scripted import scripted
from llm_runtime.tokens import estimate_tokens
from llm_runtime.wrappers.fitting import counted

WORDS = "Is it so, and if it is not, what would have to be the case for it to be so? " * 20
SHORT, CHINESE = "Yes.", "这个问题需要更多的信息才能回答。" * 20
COLUMNS = "0000000000000000000000000000000000000000 " * 40


async def booked(prompt: str, answer: str, usage: Usage) -> tuple[Usage, tuple[str, ...]]:
    request = Request("m", (Message("user", prompt),), CallLabel("test", "ask"))
    reply = await counted(scripted(lambda _: Reply(answer, "m", "acme", usage)))(request)
    return reply.usage, reply.repairs


@pytest.mark.parametrize("answer", [WORDS, CHINESE])
@pytest.mark.parametrize("tokens", [0, 1, 17])
async def test_less_than_the_words_of_an_answer_is_not_believed(answer: str, tokens: int) -> None:
    usage, notes = await booked(WORDS, answer, Usage(estimate_tokens(WORDS), tokens))
    assert usage.estimated and usage.output_tokens == estimate_tokens(answer)
    assert [f"counted {tokens} tokens of an answer" in note for note in notes] == [True]


async def test_both_sides_may_be_wrong() -> None:
    usage, notes = await booked(WORDS, WORDS, Usage(0, 0))
    assert (usage.input_tokens, usage.output_tokens) == (estimate_tokens(WORDS),) * 2 and len(notes) == 2


@pytest.mark.parametrize(
    ("answer", "tokens"), [(SHORT, 1), (SHORT, 2), ("", 0), (WORDS, 400), (COLUMNS, 45), (CHINESE, 60), (SHORT, 900)]
)
async def test_a_count_that_the_words_allow_is_booked_as_it_is(answer: str, tokens: int) -> None:
    said = Usage(estimate_tokens(WORDS), tokens)
    assert await booked(WORDS, answer, said) == (said, ())
