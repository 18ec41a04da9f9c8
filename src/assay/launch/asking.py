"""A few questions of a command to a model, outside any run: nothing of them is recorded."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from llm_runtime.gateway import Gateway
from llm_runtime.messages import Generate
from llm_runtime.settings import load_settings


@asynccontextmanager
async def asking(model: str) -> AsyncGenerator[Generate]:
    """Yield the way to a model.

    Raises:
        NoModelError, CallError: it cannot be reached.
    """
    async with Gateway(load_settings()) as gateway:
        await gateway.ready(model)
        yield gateway.generate
