"""An embedder is reached as the models of its run are: by the settings of whoever runs it, where they may."""

from __future__ import annotations

from functools import partial

import pytest
from pydantic import SecretStr

from assay.launch import Followers, PerRun
from assay.launch.execution import served
from assay.protocol import RunContext
from assay.protocols.crux.retrieving import embedder
from assay.terms import Terms
from llm_runtime.errors import ConfigurationError
from llm_runtime.events import silent
from llm_runtime.http import Http
from llm_runtime.keys import Key
from llm_runtime.messages import Generate, Reply, Request
from llm_runtime.settings import ConfigFile, EndpointEntry, Settings
from llm_runtime.testing import LoopbackServer
from llm_runtime.wrappers.accounts import Budget


async def nobody(request: Request) -> Reply:
    raise AssertionError(request.label)


def unasked(budget: Budget, followers: Followers) -> Generate:
    return nobody


def context(settings: Settings, model: PerRun | None = None) -> RunContext:
    return RunContext("r", 1, nobody, silent, lambda: 0, Terms(), served=partial(served, settings, Http(), model))


async def test_a_member_embeds_at_what_is_configured_and_nowhere_else() -> None:
    async with LoopbackServer("no vectors") as server:
        config = ConfigFile(endpoints={"own": EndpointEntry(base_url=f"{server.url}/v1")})
        settings = Settings(config=config, environment={"ASSAY_LOCAL_SERVERS": ""}).bound()
        found = await embedder("endpoint:own:small", context(settings))
        assert found is not None and found.name == "own:small"
        for name in (f"{server.url}/v1#small", "mailbox:/srv/letters"):
            with pytest.raises(ConfigurationError, match="only an admin"):
                await embedder(f"endpoint:{name}", context(settings))
        assert server.requests == []


async def test_what_no_budget_counts_is_refused_to_whom_a_budget_bounds() -> None:
    keys = {"openai": Key(SecretStr("sk-canary-0123456789"), "given")}
    settings = Settings(keys=keys, environment={"ASSAY_LOCAL_SERVERS": ""})
    assert await embedder("endpoint:openai:small", context(settings)) is not None
    assert await embedder("endpoint:openai:small", context(settings, PerRun(unasked))) is not None
    with pytest.raises(ConfigurationError, match="counted in no budget"):
        await embedder("endpoint:openai:small", context(settings, PerRun(unasked, capped=True)))
