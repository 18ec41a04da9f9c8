"""A prompt of several layers as a YAML or JSON file: data only, of bounded size, depth and aliasing."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from assay.console.options import read_text
from llm_runtime.errors import ConfigurationError

if TYPE_CHECKING:
    import yaml

#: A file may repeat itself by YAML's aliases this often.
MAX_ALIASES = 32
MAX_DEPTH = 16
_FIELDS = frozenset({"system", "application", "user", "turn", "history"})


def read_prompt_file(path: str) -> dict[str, Any]:
    """Read the fields of a prompt file: layers, ``turn`` and ``history``; ``-`` is standard input.

    Raises:
        ConfigurationError: it cannot be read, is neither YAML nor JSON, or has other fields than these.
    """
    name = "standard input" if path == "-" else Path(path).name
    text = read_text(None, path, "prompt file")
    data = _json(text, name) if text.lstrip().startswith("{") else _yaml(text, name)
    if not isinstance(data, dict):
        raise ConfigurationError(
            f"{name} is no prompt: it needs system, application or user as keys (for bare text: --user -)"
        )
    fields = cast("dict[Any, Any]", data)
    unknown = sorted(str(key) for key in fields if key not in _FIELDS)
    if unknown:
        raise ConfigurationError(
            f"{name}: no field is called {unknown[0][:40]!r}; there are {', '.join(sorted(_FIELDS))}"
        )
    return subject_fields(fields, name)


def read_history(path: str) -> list[list[str]]:
    """Read a JSON or YAML list of earlier turns: texts, one a turn, or ``{"role", "content"}`` messages.

    Raises:
        ConfigurationError: it is none.
    """
    name = "standard input" if path == "-" else Path(path).name
    text = read_text(None, path, "history")
    return _history(_json(text, name) if text.lstrip()[:1] in ("[", "{") else _yaml(text, name), name)


def subject_fields(fields: Mapping[Any, Any], name: str) -> dict[str, Any]:
    """Check the fields; return them as a run's task holds them.

    Raises:
        ConfigurationError: one is of the wrong kind.
    """
    task: dict[str, Any] = {}
    for layer in ("system", "application", "user"):
        value = fields.get(layer)
        if value is not None and not isinstance(value, str):
            raise ConfigurationError(f"{name}: {layer} is not text")
        if value:
            task[layer] = value
    turn = fields.get("turn")
    if turn is not None:
        if isinstance(turn, bool) or not isinstance(turn, int) or not 1 <= turn <= 100_000:
            raise ConfigurationError(f"{name}: turn is not a whole number of 1 or more")
        task["turn"] = turn
    if fields.get("history") is not None:
        task["history"] = _history(fields["history"], name)
    return task


def _history(value: Any, name: str) -> list[list[str]]:
    if not isinstance(value, list):
        raise ConfigurationError(f"{name}: history is not a list")
    return [_message(entry, name) for entry in cast("list[Any]", value)]


def _message(entry: Any, name: str) -> list[str]:
    if isinstance(entry, str):
        return ["", entry]
    if isinstance(entry, dict):
        message = cast("dict[Any, Any]", entry)
        role, content = message.get("role"), message.get("content")
        if isinstance(role, str) and role and isinstance(content, str):
            return [role, content]
    raise ConfigurationError(f'{name}: an entry of history is neither text nor {{"role", "content"}}')


def _json(text: str, name: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as fault:
        raise ConfigurationError(f"{name} is not JSON: {_line(fault)}") from None


def _yaml(text: str, name: str) -> Any:
    import yaml

    try:
        aliases = depth = 0
        events = cast("Iterator[yaml.Event]", yaml.parse(text, Loader=yaml.SafeLoader))  # pyright: ignore[reportUnknownMemberType]
        for event in events:
            aliases += isinstance(event, yaml.AliasEvent)
            depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
            if aliases > MAX_ALIASES or depth > MAX_DEPTH:
                raise ConfigurationError(f"{name} refers to itself too often or is nested too deep; write it out")
        return yaml.safe_load(text)
    except (yaml.YAMLError, ValueError, RecursionError) as fault:
        raise ConfigurationError(f"{name} is not YAML: {_line(fault)}") from None


def _line(fault: Exception) -> str:
    return " ".join(str(fault).split())[:200]
