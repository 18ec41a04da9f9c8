"""How job files of before version 0.2 name their jobs: a batch that such a version began goes on under its ids."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from assay.batch.inputs import InputRow
from assay.hooks import Hooks
from llm_runtime.canonical import canonical_json

#: Fields that were taken as they stood, whatever their type.
_ANY_TYPE = ("context", "history", "turn")


def older_options(data: Mapping[str, Any], options: Mapping[str, Any]) -> dict[str, Any]:
    """Return a configuration as older versions kept it: personas whole, beside the engine.

    Args:
        data: ``{"engine", "model", "max_tokens"}``.
        options: of the kind of run, completed.
    """
    engine = dict(data["engine"])
    panel = {"personas": options["panel"]} if engine.pop("personas", None) else {}
    return {**data, "engine": engine, **panel}


def older_words(
    hooks: Hooks[Any, Any], row: InputRow, columns: Mapping[str, str], task: Mapping[str, Any] | None, refusal: str
) -> tuple[str, str]:
    """Return a row's task and its fault in the words that a job's id was drawn from.

    Args:
        task: as it would be run; ``None`` where it cannot be.
        refusal: why it cannot be.
    """
    older, fault = _older_task(row, columns)
    fault = row.fault or fault or _missing(hooks.older, older)
    if not fault and hooks.older_looked:
        older, fault = ({**(task or {}), **older}, "") if task is not None else (older, refusal)
    try:
        return (row.raw if row.fault else canonical_json(older).decode()), fault
    except (ValueError, TypeError):
        return "", "holds a value that JSON cannot"


def _older_task(row: InputRow, columns: Mapping[str, str]) -> tuple[dict[str, Any], str]:
    task: dict[str, Any] = {}
    for name, column in columns.items():
        value = row.values.get(column)
        if name == "context" and isinstance(value, str):
            try:
                value = json.loads(value) if value.strip() else None
            except (ValueError, RecursionError):
                return {}, "context is not JSON"
        if name == "context" and not isinstance(value, dict | None):
            return {}, "context is not a JSON object"
        if name not in _ANY_TYPE and not isinstance(value, str | None):
            return {}, f"{name} is not text"
        if value not in (None, ""):
            task[name] = value
    return task, ""


def _missing(wanted: tuple[str, ...], task: Mapping[str, Any]) -> str:
    if any(map(task.get, wanted)):
        return ""
    return (
        f"{wanted[0]} is missing or empty"
        if len(wanted) == 1
        else f"all of {', '.join(wanted)} are missing or empty"
    )
