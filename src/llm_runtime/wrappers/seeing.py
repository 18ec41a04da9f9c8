"""Pictures go to models that see: one that is blind would answer all the same, about nothing."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from llm_runtime.errors import CallError
from llm_runtime.messages import Generate, Reply, Request
from llm_runtime.vision import family_of

if TYPE_CHECKING:
    from llm_runtime.endpoints import Endpoint
    from llm_runtime.routing import Target
    from llm_runtime.windows import Capacity
    from llm_runtime.wires import Wire


def seeing(generate: Generate, target: Target, blind: Callable[[], Awaitable[str]]) -> Generate:
    """Send no pictures where ``blind`` says why not; nothing was spent then."""

    async def call(request: Request) -> Reply:
        if request.pictures and (why := await blind()):
            raise CallError(why, provider=target.provider, model=target.model)
        return await generate(request)

    return call


async def why_blind(
    target: Target,
    endpoint_of: Callable[[str], Awaitable[Endpoint]],
    wire_to: Callable[[Endpoint, str], Wire],
    capacity: Callable[[], Awaitable[Capacity]],
) -> str:
    """Return why a model cannot be shown pictures; empty where it can.

    What the endpoint's settings say counts first, then its list of models, then the family by its name.
    """
    if target.provider == "terminal":
        return "terminal: shows no pictures; mailbox:FOLDER does, or name a model that sees"
    if target.provider == "mailbox":
        return ""
    endpoint = await endpoint_of(target.provider)
    sees = endpoint.vision if "pictures" in wire_to(endpoint, target.provider).holds else False
    if sees is None:
        sees = (await capacity()).sees
    if sees is None:
        sees = family_of(target.model).sees
    name = f"{target.provider}:{target.model}"
    if sees is None:
        entry = f"[endpoints.{target.provider}] in config.toml"
        return f"whether {name} can see pictures is not known; if it can, write vision = true under {entry}"
    return "" if sees else f"{name} cannot see pictures; name a model that can, or leave the picture out"
