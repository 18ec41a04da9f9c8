"""What an endpoint lists of its models, and which of them follows one that is no longer served."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from llm_runtime.endpoints import Endpoint
from llm_runtime.errors import MalformedReply
from llm_runtime.http import Http
from llm_runtime.http.shape import count, mapping, sequence, text
from llm_runtime.structs import Struct

_WORD = re.compile(r"[a-z]+")
#: Parts of an id that name a release, not a line.
_RELEASE = frozenset({"latest", "preview", "exp", "beta", "models"})


class Listed(Struct):
    """A model as its endpoint lists it.

    Args:
        name: its id.
        made: seconds since 1970; 0 where the list does not say.
        line: the line that it belongs to, where the list names one.
        gone: it is served no longer.
    """

    name: str
    made: float = 0.0
    line: str = ""
    gone: bool = False


async def entries_at(
    endpoint: Endpoint, http: Http, fresh: float = 0.0, path: str = "/models"
) -> Sequence[Mapping[str, Any]]:
    """Return the ``data`` of a list of models, for the wires that list them so.

    Raises:
        CallError: any of its kinds; ``MalformedReply`` where what answers lists no models.
    """
    body = mapping(await http.get_json(endpoint, path, fresh=fresh))
    entries = body.get("data")
    if not isinstance(entries, list) and not (entries is None and body.get("object") == "list"):
        raise MalformedReply("no list of models", provider=endpoint.name)
    return [mapping(entry) for entry in sequence(entries)]


def read_listing(entries: Iterable[dict[str, Any]], now: float) -> list[Listed]:
    """Read the ``data`` of a list of models, newest first where it says when they were made.

    Anthropic gives ``created_at``, ``line``, ``lifecycle`` and ``retires_at``, OpenAI ``created`` and
    ``shutdown_date``, OpenRouter ``created`` and ``expiration_date``.

    Args:
        entries: the list as it came.
        now: seconds since 1970.
    """
    models = [_listed(entry, now) for entry in entries]
    return sorted((model for model in models if model.name), key=lambda model: -model.made)


def _listed(entry: dict[str, Any], now: float) -> Listed:
    made = float(count(entry.get("created")) or 0) or _moment(entry.get("created_at"))
    lifecycle = entry.get("lifecycle")
    state = text(lifecycle) or text(mapping(lifecycle).get("state")) or text(mapping(lifecycle).get("status"))
    ends = (entry.get(name) or mapping(lifecycle).get(name) for name in _ENDS)
    gone = state == "retired" or any(0 < _moment(end) <= now for end in ends)
    return Listed(text(entry.get("id")), made, text(entry.get("line")), gone)


_ENDS = ("retires_at", "shutdown_date", "expiration_date")


def _moment(value: Any) -> float:
    """Return seconds since 1970 of a date as lists write them; 0.0 where there is none."""
    if seconds := count(value):
        return float(seconds)
    try:
        moment = datetime.fromisoformat(text(value))
    except ValueError:
        return 0.0
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


def successor(name: str, listed: Iterable[Listed]) -> str | None:
    """Return the newest listed model of the same line: whose id differs in numbers and dates alone.

    >>> successor("claude-sonnet-4-20250514", [Listed("claude-opus-5"), Listed("claude-sonnet-5")])
    'claude-sonnet-5'
    """
    words = _words(name)
    for model in listed:
        same = _words(model.name) == words or bool(model.line and _words(model.line) == words)
        if same and not model.gone and model.name != name:
            return model.name
    return None


def _words(name: str) -> frozenset[str]:
    # "4o" is a number of a release, too.
    parts = (part for part in re.split(r"[^a-z0-9]+", name.lower()) if not any(c.isdigit() for c in part))
    return frozenset(part for part in parts if part) - _RELEASE
