"""Which wires there are, ours and those of installed packages: a wire is one way to ask a server for an answer.

What a wire does not hold is refused before a run asks anything; what is no bound and no need is made up for here.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from llm_runtime.dialects import DIALECTS, GENERIC, Dialect, Held
from llm_runtime.errors import ConfigurationError
from llm_runtime.messages import Delta, Generate, Message, OnDelta, Reply, Request, unwatched
from llm_runtime.plugins import found, load
from llm_runtime.silence import HOSTED_PATIENCE, Patience
from llm_runtime.structs import Struct
from llm_runtime.toml import own_table

if TYPE_CHECKING:
    from llm_runtime.endpoints import Endpoint
    from llm_runtime.http import Http

GROUP = "llm_runtime.wires"
_TABLES: dict[str, dict[str, str]] = own_table("llm_runtime", "wires.toml")
#: What our own hold.
ALL: frozenset[Held] = frozenset({"max_tokens", "effort", "schema", "stream", "pictures"})


class Link(Struct):
    """What a wire is made over.

    Args:
        endpoint: where to ask, and with which key.
        http: the way there.
        on_delta: told of each piece of an answer, by a wire that holds ``"stream"``.
        patience: how long the model may be silent.
        max_price: USD per million tokens in and out that a router may choose at most.
        sleep: waits within the run's time.
    """

    endpoint: Endpoint
    http: Http
    on_delta: OnDelta = unwatched
    patience: Patience = HOSTED_PATIENCE
    max_price: tuple[float, float] | None = None
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep


class Wire(Struct):
    """One way to ask for an answer.

    Args:
        name: as a dialect names it.
        make: makes the model function over a link.
        holds: what of a request it sends on: ``"max_tokens"`` and ``"effort"`` as :class:`Request` has them,
            ``"schema"`` so that the answer is held to it, ``"stream"`` each piece as it comes, ``"pictures"``.
        list_models: ``(endpoint, http, fresh)`` to what the endpoint serves, each with its ``"id"``; an answer that
            is ``fresh`` seconds old will do. ``None`` where it cannot be asked.
        dialect: where its vendor listens and what names the key, where there is one vendor.
    """

    name: str
    make: Callable[[Link], Generate]
    holds: frozenset[Held] = frozenset()
    list_models: Callable[[Endpoint, Http, float], Awaitable[Sequence[Mapping[str, Any]]]] | None = None
    dialect: Dialect | None = None


def wire_of(name: str) -> Wire:
    """Return a wire.

    Raises:
        ConfigurationError: there is none of that name, or it cannot be loaded.
    """
    wire: Wire = load(GROUP, name, _TABLES["ours"])
    return wire


def dialect_named(name: str) -> Dialect | None:
    """Return a dialect of our table, or what an installed wire of that name speaks.

    Raises:
        ConfigurationError: the wire cannot be loaded.
    """
    if name in DIALECTS or name not in found(GROUP):
        return DIALECTS.get(name)
    return replace(wire_of(name).dialect or GENERIC, name=name, wire=name)


def require_held(wire: Wire, asked: frozenset[Held], provider: str) -> None:
    """Refuse what a wire does not hold.

    Raises:
        ConfigurationError: names the first that it does not.
    """
    for one in sorted(asked - wire.holds):
        what = _TABLES["asked"].get(one, one)
        words = f"its wire {wire.name} does not hold {what}; leave that out, or ask another model"
        raise ConfigurationError(f"{provider}: {words}")


def speaking(wire: Wire, link: Link) -> Generate:
    """Return the model function of a wire; what it does not hold is told in words, or at the end."""
    generate = wire.make(link)
    if {"schema", "stream"} <= wire.holds:
        return generate

    async def ask(request: Request) -> Reply:
        if request.schema is not None and "schema" not in wire.holds:
            told = tuple(with_schema_told(request.messages, request.schema))
            request = replace(request, messages=told, schema=None, grammar=None)
        if "stream" in wire.holds:
            return await generate(request)
        link.on_delta(request, Delta("progress"))
        reply = await generate(request)
        link.on_delta(request, Delta("text", reply.text, reply.usage.output_tokens))
        return reply

    return ask


def with_schema_told(messages: Sequence[Message], schema: str) -> Sequence[Message]:
    """Return a conversation that tells its answer's schema in words, unless it does already."""
    if any(schema in message.content for message in messages):
        return messages
    *before, last = messages
    words = f"Answer with one JSON object alone, which fits this JSON schema:\n{schema}"
    if last.role != "user":
        return (*messages, Message("user", words))
    return (*before, replace(last, content=f"{last.content}\n\n{words}"))
