"""A prompt of several layers as a YAML or JSON file: data only, of bounded size, depth and aliasing."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from assay.console.options import read_text
from fire_circle.layers import BY_TRUST, TEXTS
from fire_circle.rows import DataError, history_of, turn_of
from fire_circle.transcripts import TranscriptRecord, records_of, trace_of
from llm_runtime.errors import ConfigurationError
from llm_runtime.rewording import reworded
from llm_runtime.yaml_text import parse_yaml

_FIELDS = frozenset({*BY_TRUST, "turn", "history", "messages"})


def read_prompt_file(path: str) -> dict[str, Any]:
    """Read the fields of a prompt file: layers, ``turn``, ``history``, or ``messages``; ``-`` is standard input.

    Raises:
        ConfigurationError: it cannot be read, is neither YAML nor JSON, or has other fields than these.
    """
    name = "standard input" if path == "-" else Path(path).name
    return prompt_fields(read_data(read_text(None, path, "prompt file"), name), name)


def prompt_fields(data: Any, name: str) -> dict[str, Any]:
    """Return the fields of a prompt as a run's task holds them.

    Raises:
        ConfigurationError: they are those of something else.
    """
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


def read_history(path: str) -> tuple[TranscriptRecord, ...]:
    """Read a JSON or YAML list of earlier turns: texts, one a turn, or ``{"role", "content"}`` messages.

    Raises:
        ConfigurationError: it is none.
    """
    name = "standard input" if path == "-" else Path(path).name
    return subject_fields({"history": read_data(read_text(None, path, "history"), name)}, name).get("history", ())


def subject_fields(fields: Mapping[Any, Any], name: str) -> dict[str, Any]:
    """Check the fields; return them as a run's task holds them.

    Raises:
        ConfigurationError: one is of the wrong kind.
    """
    task: dict[str, Any] = {}
    with reworded(name, DataError):
        if fields.get("messages") is not None:
            task |= trace_of(records_of(fields["messages"]))
        for layer in TEXTS:
            value = fields.get(layer)
            if value is not None and not isinstance(value, str):
                raise ConfigurationError(f"{name}: {layer} is not text")
            if value and task.setdefault(layer, value) != value:
                raise ConfigurationError(f"{name}: {layer} and messages say different things; leave one of them out")
        if fields.get("material"):
            task["material"] = records_of(fields["material"])
        if fields.get("turn") is not None:
            task["turn"] = turn_of(fields["turn"])
        if fields.get("history") is not None:
            task["history"] = history_of(fields["history"])
    return task


def read_data(text: str, name: str) -> Any:
    """Read YAML or JSON: data only, of bounded depth and aliasing.

    Raises:
        ConfigurationError: it is neither.
    """
    is_json = text.lstrip()[:1] in ("[", "{")
    try:
        return json.loads(text) if is_json else parse_yaml(text)
    except RecursionError:
        raise ConfigurationError(f"{name} is nested too deep; write it out") from None
    except ValueError as fault:
        raise ConfigurationError(
            f"{name} {'is not JSON: ' if is_json else ''}{' '.join(str(fault).split())[:220]}"
        ) from None
