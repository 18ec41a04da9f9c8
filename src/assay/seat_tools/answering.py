"""What answers requests to tools, beside the models: each within bounds of its own, and never with more than it is
allowed."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, cast

from assay.seat_tools.offered import Call, ToolFault, made
from assay.seat_tools.using import TOOL
from llm_runtime.errors import LlmRuntimeError
from llm_runtime.messages import Generate, Reply, Request, Usage


def beside(generate: Generate, names: Sequence[str], programs: Mapping[str, Call] | None = None) -> Generate:
    """Answer requests to the tools of these names, and pass all others on; without any it is ``generate`` itself.

    Args:
        generate: the models.
        names: of the tools, as a user wrote them.
        programs: what the run itself asks by the names that they are registered under until then: what they answer
            is kept whole, and what they raise ends the run.

    Raises:
        ConfigurationError: a tool is not there: a folder, a sandbox, a server.
    """
    if not names and programs is None:
        return generate
    # It starts processes, which a council without tools does without.
    from sandbox.told import clip

    tools = made(names)

    async def answer(request: Request) -> Reply:
        name = request.model.removeprefix(TOOL)
        if name == request.model:
            return await generate(request)
        arguments = cast("dict[str, Any]", json.loads(request.messages[-1].content))
        if programs and name in programs:
            return _reply(await programs[name](arguments), request)
        try:
            text = await tools[name](arguments)
        except (ToolFault, OSError, LlmRuntimeError) as fault:
            text = f"error: {fault or type(fault).__name__}"
        except Exception as fault:  # whatever somebody else's tool raises must not end the run
            text = f"error: the tool failed: {type(fault).__name__}"
        return _reply(clip(text), request)

    return answer


def _reply(text: str, request: Request) -> Reply:
    return Reply(text, request.model, "tool", Usage(0, 0), cost=0, cost_source="free")
