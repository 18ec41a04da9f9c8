"""A model server behind the real ``claude``: a whole run is answered by a script, each call by a process of it.

The program comes from npm and has an empty home and a made-up token; see
``tests/llm_runtime/providers/test_agents.py``.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
from tests.llm_runtime.providers.agent_server import AgentServer

from llm_runtime.testing import Received

MODEL = "agent:claude#opus"
#: What such a test needs, and what it takes.
real = [pytest.mark.needs("claude", "node"), pytest.mark.toolchain, pytest.mark.long]


def received(text: str) -> Received:
    """What Assay asked, of what the program sent: without the texts that are the program's own."""
    body: dict[str, Any] = json.loads(text)
    system = [one["text"] for one in body.get("system", ())]
    turns = [{"role": one["role"], "content": _asked(one["content"])} for one in body["messages"]]
    return Received(1, "anthropic", {}, {"model": body["model"], "system": system[-1], "messages": turns})


def _asked(content: Any) -> str:
    parts = [content] if isinstance(content, str) else [one.get("text", "") for one in content]
    return "\n".join(one.strip("\n") for one in parts if not one.startswith("<system-reminder>"))


@asynccontextmanager
async def answering(
    script: Callable[[Received], str | Awaitable[str]],
) -> AsyncIterator[tuple[AgentServer, dict[str, str]]]:
    """A server whose answers the script gives, and the variables by which ``claude`` reaches it."""
    async with AgentServer(lambda text: script(received(text))) as server:
        yield server, {"ANTHROPIC_BASE_URL": server.url, "CLAUDE_CODE_OAUTH_TOKEN": "made-up-token"}
