"""The user's choice over a protocol's own: model by seat, phase and run, and the bound of an answer."""

from __future__ import annotations

import pytest

from llm_runtime.messages import CallLabel, Message, Reply, Request, Usage
from llm_runtime.settings import ConfigFile
from llm_runtime.wrappers.chosen import chosen

ASKED = Request(
    "vendor/own",
    (Message("user", "?"),),
    CallLabel("p", "critique", "2:red_team"),
    max_tokens=300,
    fallbacks=("vendor/b",),
)


@pytest.mark.parametrize(
    ("config", "model", "max_tokens", "fallbacks"),
    [
        (ConfigFile(), "vendor/own", 300, ("vendor/b",)),
        (ConfigFile(model="a"), "a", 300, ()),
        (ConfigFile(model="a", seats={"critique": "b"}), "b", 300, ()),
        (ConfigFile(model="a", seats={"critique": "b", "red_team": "c"}), "c", 300, ()),
        (ConfigFile(max_tokens=777), "vendor/own", 777, ("vendor/b",)),
        (ConfigFile(effort="low"), "vendor/own", 300, ("vendor/b",)),
    ],
)
async def test_what_the_user_chose_takes_the_place_of_what_is_asked(
    config: ConfigFile, model: str, max_tokens: int, fallbacks: tuple[str, ...]
) -> None:
    sent: list[Request] = []

    async def generate(request: Request) -> Reply:
        sent.append(request)
        return Reply("", request.model, "test", Usage(0, 0))

    await chosen(generate, config)(ASKED)
    assert [(one.model, one.max_tokens, one.fallbacks) for one in sent] == [(model, max_tokens, fallbacks)]
    assert [one.effort for one in sent] == [config.effort]
