"""How much a model reads in one call, and how many calls its server takes at once: asked, never guessed."""

from __future__ import annotations

import asyncio
import dataclasses
import re
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from llm_runtime.endpoints import Endpoint
from llm_runtime.errors import CallError, ConfigurationError
from llm_runtime.http import Http
from llm_runtime.http.shape import count, mapping, sequence
from llm_runtime.messages import Request
from llm_runtime.providers.catalogue import FRESH_SECONDS, model_entries, server_of
from llm_runtime.structs import Struct

#: Calls at once, where the server does not say: Ollama and LM Studio answer one after the other.
_SLOTS: dict[str, int] = {"ollama": 1, "lmstudio": 1, "vllm": 16}
#: What vendors call the window in their lists of models; the one that is in force comes before the possible one.
_WINDOW_FIELDS = (
    *("loaded_context_length", "max_input_tokens", "max_model_len", "context_length"),
    *("context_window", "max_context_length", "n_ctx"),
)
#: The largest window that Ollama is asked for; see the provider.
OLLAMA_WINDOW = 32_768
_SECONDS = 5.0
#: How long the list of a server on this machine is taken to hold: runs that begin together ask for it once.
_LOCAL_FRESH_SECONDS = 2.0
#: What a chat template adds to a conversation, and to each message of it, in tokens, at the most usual.
_TEMPLATE, _TEMPLATE_OF_A_MESSAGE = 32, 8


class Capacity(Struct):
    """What is known of a model at an endpoint.

    Args:
        window: tokens of a prompt and its answer together; ``None`` where that is not known.
        slots: calls that are worked on at once; ``None`` where that is not known.
        server: the software that answers, where it is one that people run themselves.
        sees: whether it takes pictures; ``None`` where that is not said.
    """

    window: int | None = None
    slots: int | None = None
    server: str = ""
    sees: bool | None = None


async def capacity(endpoint: Endpoint, model: str, http: Http) -> Capacity:
    """Ask an endpoint what it can take; whatever does not answer in 5 seconds, or not as it should, is unknown.

    The list of models says it at vLLM, OpenRouter, Anthropic, Groq, Mistral, Together and most others; llama.cpp
    says it under ``/props`` (for one slot), Ollama under ``/api/show``, LM Studio under ``/api/v0/models``. For the
    rest of the hosted ones the data of the package genai-prices stand in.
    """
    known = Capacity()
    with suppress(CallError, ConfigurationError, TimeoutError):
        async with asyncio.timeout(_SECONDS):
            known = await _listed(endpoint, model, http)
            known = await _of_server(known, endpoint, model, http)
    if known.window is None and not endpoint.local:
        known = dataclasses.replace(known, window=_published(endpoint, model))
    # What the user's own configuration says of an endpoint of theirs comes first.
    return dataclasses.replace(known, window=endpoint.context or known.window, slots=endpoint.in_flight or known.slots)


async def count_tokens(request: Request, server: str, endpoint: Endpoint, http: Http) -> int | None:
    """Let the server's own tokenizer count a prompt, what its chat template adds included.

    Returns:
        ``None`` where the server has none that can be asked: only llama.cpp and vLLM have.
    """
    if server not in ("llama.cpp", "vllm"):
        return None
    whole = "\n".join(message.content for message in request.messages)
    payload = {"content": whole} if server == "llama.cpp" else {"model": request.model, "prompt": whole}
    try:
        async with asyncio.timeout(_SECONDS):
            body, _ = await http.post_json(_root(endpoint), "/tokenize", payload, model=request.model)
    except (CallError, TimeoutError):
        return None
    counted = count(mapping(body).get("count")) or len(sequence(mapping(body).get("tokens")))
    return counted + _TEMPLATE + _TEMPLATE_OF_A_MESSAGE * len(request.messages) if counted else None


async def _listed(endpoint: Endpoint, model: str, http: Http) -> Capacity:
    """Return what the endpoint's list of models says."""
    # What runs here may soon be another model.
    entries = await model_entries(http, endpoint, fresh=(_LOCAL_FRESH_SECONDS if endpoint.local else FRESH_SECONDS))
    named = [entry for entry in entries if entry.get("id") == model] or (entries if len(entries) == 1 else [])
    server = server_of(entries)
    if not server and endpoint.dialect.local:
        server = endpoint.dialect.name
    entry = named[0] if named else {}
    return Capacity(_window_in(entry), _SLOTS.get(server), server, _sight_in(entry))


async def _of_server(known: Capacity, endpoint: Endpoint, model: str, http: Http) -> Capacity:
    """Ask a server that people run themselves in its own way."""
    root = _root(endpoint)
    if known.server == "llama.cpp":
        props = mapping(await http.get_json(root, "/props", fresh=_LOCAL_FRESH_SECONDS))
        window = count(mapping(props.get("default_generation_settings")).get("n_ctx"))
        slots, sees = count(props.get("total_slots")) or None, _sight_in({"capabilities": props.get("modalities")})
        return Capacity(window or known.window, slots, "llama.cpp", sees)
    if known.server == "ollama":
        body, _ = await http.post_json(root, "/api/show", {"model": model}, model=model)
        sizes = (size for name, size in mapping(mapping(body).get("model_info")).items() if "context_length" in name)
        window = next(filter(None, map(count, sizes)), None)
        sees = _sight_in(mapping(body))
        return dataclasses.replace(known, window=window and min(window, OLLAMA_WINDOW), sees=sees)
    if known.server == "lmstudio":
        entries = sequence(mapping(await http.get_json(root, "/api/v0/models")).get("data"))
        windows = (_window_in(mapping(entry)) for entry in entries if mapping(entry).get("id") == model)
        return dataclasses.replace(known, window=next(windows, None))
    return known


def _window_in(entry: dict[str, Any]) -> int | None:
    places = (entry, mapping(entry.get("meta")))
    return next(filter(None, (count(place.get(name)) for name in _WINDOW_FIELDS for place in places)), None)


def _sight_in(entry: Mapping[str, object]) -> bool | None:
    """Return what a list says of pictures: of a model's ``capabilities``, or of what goes into it."""
    said = mapping(entry.get("capabilities"))
    vision = said.get("vision", mapping(said.get("image_input")).get("supported"))
    if isinstance(vision, bool):
        return vision
    taken = mapping(entry.get("architecture")).get("input_modalities") or entry.get("input_modalities")
    listed = sequence(taken or entry.get("capabilities"))
    return bool({"image", "vision"}.intersection(map(str, listed))) if listed else None


def _root(endpoint: Endpoint) -> Endpoint:
    """Return the endpoint without the ``/v1`` that its own paths do not stand under."""
    return dataclasses.replace(endpoint, base_url=re.sub(r"/v1/?$", "", endpoint.base_url))


def _published(endpoint: Endpoint, model: str) -> int | None:
    """Return the window that the package genai-prices gives for a hosted model."""
    from genai_prices.data_snapshot import get_snapshot

    try:
        _, info = get_snapshot().find_provider_model(model, None, None, endpoint.base_url)
    except LookupError:
        return None
    return info.context_window
