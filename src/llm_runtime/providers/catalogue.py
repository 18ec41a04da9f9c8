"""What can be asked: the model servers that run on this machine, and the models that an endpoint serves."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any
from urllib.parse import urlsplit

from llm_runtime.dialects import DIALECTS
from llm_runtime.endpoints import Endpoint
from llm_runtime.errors import CallError, ConfigurationError
from llm_runtime.http import Http
from llm_runtime.http.shape import mapping, text
from llm_runtime.price import Price
from llm_runtime.providers.listing import Listed, read_listing
from llm_runtime.structs import Struct
from llm_runtime.wires import wire_of

#: How long the list of a hosted endpoint is taken to hold: runs of one process ask for it again and again.
FRESH_SECONDS = 300.0
PROBE_SECONDS = 0.4
#: For a server that somebody named: it is there, and may be busy.
NAMED_SECONDS = 5.0

_OLLAMA_PORT = 11434
_PORTS = (("llama.cpp", 8080), ("vllm", 8000), ("lmstudio", 1234))
#: What the servers write into ``owned_by``, which tells them apart wherever they listen.
_OWNERS = {"llamacpp": "llama.cpp", "vllm": "vllm", "organization_owner": "lmstudio", "library": "ollama"}

#: What OpenRouter's list gives a price for, in the order of :class:`Price`.
_CHARGED = ("prompt", "completion", "input_cache_read", "input_cache_write", "internal_reasoning", "request")


class Found(Struct):
    """A server that answered.

    Args:
        endpoint: ready to ask; its name is ``"ollama"``, ``"llama.cpp"``, ``"vllm"`` or ``"lmstudio"``.
        models: the ids that it serves, in its own order; may be empty.
        how: in words, where it was found.
    """

    endpoint: Endpoint
    models: list[str]
    how: str


async def discover_local(http: Http, env: Mapping[str, str]) -> list[Found]:
    """Ask the usual local ports for their models, all at once, each for at most 0.4 seconds.

    Args:
        http: the client.
        env: the environment; ``OLLAMA_HOST`` moves Ollama, as it does for Ollama itself, and
            ``ASSAY_LOCAL_SERVERS`` names the servers to look for, with commas; empty, none is looked for.

    Returns:
        The servers that answered, Ollama first and then by port; never an error.
    """
    addresses = [*_ollama(env), *((name, f"http://127.0.0.1:{port}/v1", f"port {port}") for name, port in _PORTS)]
    if (wanted := env.get("ASSAY_LOCAL_SERVERS")) is not None:
        names = {name.strip() for name in wanted.split(",")}
        addresses = [address for address in addresses if address[0] in names]
    if addresses:
        await http.open()
    servers: dict[str, Found] = {}
    for server in await asyncio.gather(*(_probe(http, *address) for address in addresses)):
        if server is not None:
            servers.setdefault(server.endpoint.base_url, server)
    return list(servers.values())


def _ollama(env: Mapping[str, str]) -> list[tuple[str, str, str]]:
    host = env.get("OLLAMA_HOST", "").strip()
    if not host:
        return [("ollama", f"http://127.0.0.1:{_OLLAMA_PORT}/v1", f"port {_OLLAMA_PORT}")]
    try:
        parts = urlsplit(host if "://" in host else f"http://{host}")
        name = parts.hostname or "127.0.0.1"
        port = parts.port or (_OLLAMA_PORT if "://" not in host else {"https": 443}.get(parts.scheme, 80))
    except ValueError:
        return []
    # What a server listens on when it listens everywhere is not an address to connect to.
    name = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(name, f"[{name}]" if ":" in name else name)
    return [("ollama", f"{parts.scheme}://{name}:{port}/v1", f"OLLAMA_HOST={name}:{port}")]


async def _probe(http: Http, name: str, base_url: str, where: str) -> Found | None:
    try:
        async with asyncio.timeout(PROBE_SECONDS):
            entries = await model_entries(http, Endpoint(name, base_url))
    except (CallError, ConfigurationError, TimeoutError):
        return None
    known = server_of(entries) or name
    models = [name for entry in entries if (name := text(entry.get("id")))]
    return Found(Endpoint(known, base_url, dialect=DIALECTS[known]), models, f"answers at {where}")


async def server_at(http: Http, base_url: str) -> Endpoint:
    """Return the server at an address, under that name; its dialect is what its list of models shows.

    Raises:
        ConfigurationError: the address is none.
    """
    endpoint = Endpoint(base_url, base_url)
    try:
        async with asyncio.timeout(NAMED_SECONDS):
            kind = server_of(await model_entries(http, endpoint))
    except (CallError, TimeoutError):
        # The call itself will say in better words what is wrong there.
        return endpoint
    return replace(endpoint, dialect=DIALECTS[kind]) if kind else endpoint


async def model_entries(http: Http, endpoint: Endpoint, *, fresh: float = 0.0) -> list[dict[str, Any]]:
    """Return what an endpoint lists as its models; nothing where its wire has no list.

    Args:
        http: the client.
        endpoint: where to ask.
        fresh: seconds for which an earlier answer will do.

    Raises:
        CallError: any of its kinds; ``MalformedReply`` where what answers lists no models.
    """
    wire = wire_of(endpoint.dialect.wire)
    return [mapping(entry) for entry in (await wire.list_models(endpoint, http, fresh) if wire.list_models else ())]


def server_of(entries: list[dict[str, Any]]) -> str:
    """Return what kind of server lists these models; empty where they do not show it."""
    owners = (text(entry.get("owned_by")) for entry in entries)
    return next((_OWNERS[owner] for owner in owners if owner in _OWNERS), "")


async def list_models(endpoint: Endpoint, http: Http) -> list[str]:
    """Return the ids of the models that an endpoint serves: newest first where it says when they were made.

    Raises:
        CallError: any of its kinds.
    """
    return [model.name for model in await listing(endpoint, http) if not model.gone]


async def listing(endpoint: Endpoint, http: Http) -> list[Listed]:
    """Return the same with all that the list says, those that are served no longer included.

    Raises:
        CallError: any of its kinds.
    """
    return read_listing(await model_entries(http, endpoint), time.time())


async def list_prices(endpoint: Endpoint, http: Http) -> Callable[[str], Price | None]:
    """Return what gives the price of an id by an endpoint's list of models, as OpenRouter writes it: USD a token or a
    call, in text.

    Of hundreds of models a run asks two or three: only theirs are read. Models without a fixed price, such as the
    router itself, have none.

    Raises:
        CallError: any of its kinds.
    """
    entries = await model_entries(http, endpoint, fresh=FRESH_SECONDS)
    listed = {text(entry.get("id")): mapping(entry.get("pricing")) for entry in entries}

    def price(model: str) -> Price | None:
        pricing = listed.get(model, {})
        asked, answered, read, written, thought, call = (_per_million(pricing.get(name)) for name in _CHARGED)
        if asked is None or answered is None:
            return None
        # Some entries say nought for reasoning and charge it as output.
        return Price(asked, answered, read, written, thought or None, (call or 0.0) / 1e6)

    return price


def _per_million(usd_a_token: Any) -> float | None:
    try:
        value = float(usd_a_token) * 1e6
    except (TypeError, ValueError):
        return None
    return value if 0 <= value < 1e6 else None
