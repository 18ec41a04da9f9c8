"""Tasks from files as people have them: JSONL, JSON, CSV; our own form, Inspect's samples, HELM's, lm-eval's."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from pydantic import AliasChoices, AliasPath, BaseModel, Field, JsonValue, ValidationError

from assay.protocols.compare.scoring import LETTERS, choice
from assay.protocols.compare.tasks import MOST_TASKS, Question
from llm_runtime.errors import ConfigurationError
from llm_runtime.models import first_fault
from llm_runtime.tables import divider

_COUNTED = {str(at): letter for at, letter in enumerate(LETTERS)}
#: Under which a file of one object holds its rows.
_LISTS = ("request_states", "instances", "samples", "data")


def _called(names: str, *places: str) -> Any:
    """Return a field that others call by one of these names, or keep at one of these places."""
    paths = (place.split(".") for place in places)
    held = (AliasPath(first, *(int(at) if at.isdecimal() else at for at in rest)) for first, *rest in paths)
    return Field(default=None, validation_alias=AliasChoices(*names.split(), *held))


class _Foreign(BaseModel):
    """A row as others write it: Inspect, HELM, lm-eval, tables."""

    asked: str | list[dict[str, JsonValue]] | None = _called(
        "question input prompt query problem instruction",
        *("instance.input.text", "arguments.gen_args_0.arg_0", "arguments.0.0", "doc.question"),
    )
    right: JsonValue = _called("expected target answer ideal label gold output solution")
    references: list[Any] | None = _called("", "instance.references")
    choices: list[str] | dict[str, JsonValue] | None = _called("choices options", "doc.choices")
    id: str | int | None = _called("id doc_id task_id", "instance.id")

    def ours(self, row: Mapping[str, JsonValue]) -> dict[str, object]:
        """Return it by our own names, with what of the row we know beside."""
        choices, right = self._listed(row), _last_line(self.right)
        if self.references:
            right = [one["output"]["text"] for one in self.references if "correct" in one.get("tags", ())]
        if choices and right not in choices:  # some count the right one, from 0
            right = _COUNTED.get(str(right), right)
        known = {name: row.get(name) for name in ("regex", "tolerance", "scorer")}
        own = {"question": self._words(), "expected": right, "choices": choices, "id": self.id and str(self.id)}
        return {name: one for name, one in (own | known).items() if one not in (None, "", [])}

    def _listed(self, row: Mapping[str, JsonValue]) -> list[Any]:
        held: Any = self.choices["text"] if isinstance(self.choices, dict) else self.choices
        return held or [row[letter] for letter in LETTERS if letter in row]

    def _words(self) -> str | None:
        """Return what is asked; of a chat what was said in it."""
        if not isinstance(self.asked, list):
            return self.asked
        return "\n\n".join(str(turn.get("content", "")) for turn in self.asked)


def read_tasks(text: str, name: str = "the tasks") -> list[Question]:
    """Read tasks.

    Raises:
        ConfigurationError: a line is no task, an id comes twice, or there are none; says which line.
    """
    tasks: list[Question] = []
    seen: dict[str, int] = {}
    for at, row in _rows(text, name):
        if len(tasks) == MOST_TASKS:
            raise ConfigurationError(f"{name} holds more than {MOST_TASKS:,} tasks; split it")
        task = _task(row, f"{name}, line {at}", at)
        if task.id in seen:
            raise ConfigurationError(f"{name}, line {at}: the id {task.id!r} was used in line {seen[task.id]}")
        if task.choices and not {choice(one, task.choices) for one in task.wanted} <= {*LETTERS[: len(task.choices)]}:
            raise ConfigurationError(f"{name}, line {at}: {task.wanted[0]} is no choice; write its letter or its words")
        seen[task.id] = at
        tasks.append(task)
    if not tasks:
        raise ConfigurationError(f'{name} holds no tasks; write one JSON object a line: {{"question": "..."}}')
    return tasks


def _rows(text: str, name: str) -> Iterable[tuple[int, JsonValue]]:
    """Return the line of each row, and the row."""
    text = text.removeprefix("\ufeff")
    if name.casefold().endswith((".csv", ".tsv")):
        return _of_table(text, name)
    whole = _json(text)
    if isinstance(whole, dict):
        whole = next((whole[key] for key in _LISTS if key in whole), [whole])
    if isinstance(whole, list):
        return enumerate(whole, 1)
    # A line ends where a file's lines do: a text may hold what Unicode calls the end of one.
    return ((at, _json(line)) for at, line in enumerate(io.StringIO(text, newline=None), 1) if line.strip())


def _of_table(text: str, name: str) -> Iterator[tuple[int, JsonValue]]:
    between = divider(text.partition("\n")[0], name)
    rows = csv.DictReader(io.StringIO(text, newline=""), delimiter=between, restkey="more")
    try:
        rows.fieldnames = [name if len(name) == 1 else name.strip().casefold() for name in rows.fieldnames or ()]
        yield from ((rows.line_num, dict(row)) for row in rows)
    except csv.Error as fault:
        raise ConfigurationError(f"{name}, line {rows.line_num}: {fault}") from None


def _last_line(right: JsonValue) -> JsonValue:
    """Return what an answer that is worked out comes to, as GSM8K has it; another as it is."""
    return right.rpartition("\n#### ")[2] if isinstance(right, str) else right


def _json(text: str) -> JsonValue:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _task(row: JsonValue, where: str, at: int) -> Question:
    if not isinstance(row, dict):
        raise ConfigurationError(f"{where} is not {'JSON' if row is None else 'a JSON object'}")
    row = {name: value for name, value in row.items() if value not in (None, "")}
    try:
        made = _Foreign.model_validate(row).ours(row)
        # Who writes our own form is told of what it does not know.
        return Question.model_validate({"id": str(at), **(row if made.keys() <= row.keys() else made)})
    except ValidationError as fault:
        raise ConfigurationError(f"{where}: {first_fault(fault, plain=True)}") from None
    except (KeyError, TypeError, AttributeError, IndexError):
        raise ConfigurationError(f"{where} is in no form that is known") from None
