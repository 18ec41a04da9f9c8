"""What answers requests to tools, beside the models: each within bounds of its own, and never with more than it is
allowed."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, cast

from assay.seat_tools.offered import ToolFault, made
from assay.seat_tools.using import TOOL
from llm_runtime.errors import ConfigurationError
from llm_runtime.messages import Generate, Reply, Request, Usage


def beside(generate: Generate, names: Sequence[str]) -> Generate:
    """Answer requests to the tools of these names, and pass all others on; without any it is ``generate`` itself.

    Raises:
        ConfigurationError: a tool is not there: a folder, a sandbox, a server.
    """
    if not names:
        return generate
    # It starts processes, which a council without tools does without.
    from sandbox.told import clip

    tools = made(names)

    async def answer(request: Request) -> Reply:
        if not request.model.startswith(TOOL):
            return await generate(request)
        try:
            arguments = cast("dict[str, Any]", json.loads(request.messages[-1].content))
            text = await tools[request.model.removeprefix(TOOL)](arguments)
        except (ToolFault, OSError, ConfigurationError, TimeoutError) as fault:
            text = f"error: {fault or type(fault).__name__}"
        except Exception as fault:  # whatever somebody else's tool raises must not end the run
            text = f"error: the tool failed: {type(fault).__name__}"
        return Reply(clip(text), request.model, "tool", Usage(0, 0), cost=0, cost_source="free")

    return answer
