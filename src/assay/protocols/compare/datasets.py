"""Tasks from files as people have them: JSONL, JSON, CSV; our own form, Inspect's samples, HELM's, lm-eval's."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from typing import Any, TypeAlias, cast

from pydantic import ValidationError

from assay.protocols.compare.tasks import MOST_TASKS, Question
from llm_runtime.errors import ConfigurationError
from llm_runtime.models import first_fault

Row: TypeAlias = "dict[str, Any]"
#: By our own names, what others call the same.
_NAMES = {
    "question": ("input", "prompt", "query", "problem", "instruction"),
    "expected": ("target", "answer", "ideal", "label", "gold", "output", "solution"),
    "choices": ("options",),
    "id": ("doc_id", "task_id"),
}
_LETTERS = "ABCDEFGHIJ"
_OTHERS = {"doc", "instance", "references", *_LETTERS, *(name for names in _NAMES.values() for name in names)}
#: Under which a file of one object holds its rows.
_LISTS = ("request_states", "instances", "samples", "data")


def read_tasks(text: str, name: str = "the tasks") -> list[Question]:
    """Read tasks.

    Raises:
        ConfigurationError: a line is no task, an id comes twice, or there are none; says which line.
    """
    tasks: list[Question] = []
    seen: dict[str, str] = {}
    for at, data in _rows(text, name):
        where = f"{name}, {at}"
        if len(tasks) == MOST_TASKS:
            raise ConfigurationError(f"{name} holds more than {MOST_TASKS:,} tasks; split it")
        task = _task(data, where, at.removeprefix("line "))
        if task.id in seen:
            raise ConfigurationError(f"{where}: the id {task.id!r} was used in {seen[task.id]}")
        seen[task.id] = at
        tasks.append(task)
    if not tasks:
        raise ConfigurationError(f'{name} holds no tasks; write one JSON object a line: {{"question": "..."}}')
    return tasks


def _rows(text: str, name: str) -> Iterator[tuple[str, Any]]:
    """Yield where each row stands, and the row."""
    if (ending := name.casefold()[-4:]) in (".csv", ".tsv"):
        yield from _of_table(text, name, "\t" if ending == ".tsv" else ",")
        return
    whole = _json(text)
    if isinstance(whole, dict):
        held = cast("Row", whole)
        whole = next((held[key] for key in _LISTS if key in held), [held])
    if isinstance(whole, list):
        yield from ((f"line {at}", row) for at, row in enumerate(cast("list[Any]", whole), 1))
    else:
        yield from ((f"line {at}", _json(line)) for at, line in enumerate(text.splitlines(), 1) if line.strip())


def _of_table(text: str, name: str, apart: str) -> Iterator[tuple[str, Any]]:
    rows = csv.DictReader(io.StringIO(text, newline=""), delimiter=apart)
    try:
        yield from ((f"line {rows.line_num}", row) for row in rows)
    except csv.Error as fault:
        raise ConfigurationError(f"{name}, line {rows.line_num}: {fault}") from None


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _task(data: Any, where: str, number: str) -> Question:
    if not isinstance(data, dict):
        raise ConfigurationError(f"{where} is not {'JSON' if data is None else 'a JSON object'}")
    try:
        row = cast("Row", data)
        # Who writes our own form is told of what it does not know.
        own = _in_our_names(row) if row.keys() & _OTHERS else row
        return Question.model_validate({"id": number, **own})
    except ValidationError as fault:
        raise ConfigurationError(f"{where}: {first_fault(fault).replace('Value error, ', '', 1)}") from None


def _in_our_names(row: Row) -> Row:
    """Return a row by our own names."""
    row = {name: value for name, value in (row | _of_others(row)).items() if value not in (None, "")}
    made = {name: row[name] for name in Question.model_fields if name in row}
    for own, names in _NAMES.items():
        made[own] = next((row[name] for name in (own, *names) if name in row), "")
    made |= {"question": _words(made["question"]), "id": str(made["id"]), **_chosen(made, row)}
    return {name: value for name, value in made.items() if value not in ("", [])}


def _chosen(made: Row, row: Row) -> Row:
    """Return choices as a list, and the right one, which some count, by its letter."""
    held = made["choices"] or [row[letter] for letter in _LETTERS if letter in row]
    choices: Any = cast("Row", held)["text"] if isinstance(held, dict) else held
    at = str(made["expected"])
    return {"choices": choices, **({"expected": _LETTERS[int(at)]} if choices and at.isdigit() else {})}


def _of_others(row: Row) -> Row:
    """Return what HELM's and lm-eval's rows hold further in."""
    inner = row.get("instance", row)
    if isinstance(inner, dict) and "references" in inner:
        held = cast("Row", inner)
        right = [one["output"]["text"] for one in held["references"] if "correct" in one.get("tags", ())]
        return {"question": held["input"]["text"], "expected": right, "id": held.get("id")}
    if isinstance(row.get("doc"), dict):
        # Arguments are named or in order; the first of the first is the prompt.
        return {**row["doc"], "question": _first(_first(row.get("arguments"))), "expected": row.get("target")}
    return {}


def _first(held: Any) -> Any:
    several = list(getattr(held, "values", lambda: held or ())())
    return several[0] if several else None


def _words(asked: Any) -> str:
    """Return a question; of a chat what was said in it."""
    if not isinstance(asked, list):
        return str(asked)
    return "\n\n".join(str(turn.get("content", "")) for turn in cast("list[Row]", asked))
