"""A data set, row by row: CSV, JSON or JSONL, in constant memory, to prompts with labels and turns.

A row that does not fit is refused with its place in the file; nothing is guessed.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from fire_circle.layers import MultiNeutrosophicPrompt, PromptError
from fire_circle.session import SessionMemory
from fire_circle.transcripts import TranscriptRecord, records_of
from llm_runtime.canonical import canonical_json
from llm_runtime.models import Model
from llm_runtime.rewording import instead, reworded
from llm_runtime.structs import Struct
from llm_runtime.tables import DataError as DataError
from llm_runtime.tables import read_rows

_MOST_TOLD = 8
_YES = frozenset({"1", "1.0", "true", "yes", "violation", "attack", "unsafe", "malicious", "harmful", "positive"})
_NO = frozenset({"0", "0.0", "false", "no", "benign", "safe", "harmless", "legitimate", "negative"})


class Columns(Model):
    """Which column holds what; ``None`` where there is none.

    Args:
        system, application, user: the layers; at least one is named.
        label: whether the row is a violation; see ``positive``.
        positive: the values of ``label`` that mean a violation; without them the usual words are understood.
        turn: the 1-based turn of the prompt.
        history: what was said before: a list of texts, one a turn, or of ``{"role", "content"}`` messages; in CSV
            as JSON text.
        material: what the application retrieved: a text, or a list of documents and messages of tools.
        id: what the row is called in reports.
    """

    system: str | None = None
    application: str | None = None
    user: str | None = None
    label: str | None = None
    positive: tuple[str, ...] = ()
    turn: str | None = None
    history: str | None = None
    material: str | None = None
    id: str | None = None

    @property
    def named(self) -> tuple[str, ...]:
        """All columns a row must have."""
        every = (getattr(self, name) for name in type(self).model_fields if name != "positive")
        return tuple(name for name in every if name is not None)


class Item(Struct):
    """One row, ready to be judged.

    Args:
        index: 0-based place in the data set.
        name: what the row is called, or its 1-based number.
        prompt: the prompt.
        label: whether it is a violation; ``None`` without a label column.
        turn: the 1-based turn; ``None`` where it is not known.
        history: what was said and done before the prompt.
    """

    index: int
    name: str
    prompt: MultiNeutrosophicPrompt
    label: bool | None = None
    turn: int | None = None
    history: tuple[TranscriptRecord, ...] = ()

    def session(self) -> SessionMemory | None:
        """Return the conversation the prompt belongs to, made anew; ``None`` if no turn or history is known.

        Raises:
            PromptError: the turn and the history contradict each other.
        """
        if not self.history:
            return None if self.turn is None else SessionMemory.at_turn(self.turn)
        session = SessionMemory.of_messages(self.history)
        if self.turn not in (None, session.turn):
            raise PromptError(
                f"turn is {self.turn}, the history has {session.turn - 1} turns before it; correct one of them"
            )
        return session

    def digest(self, settings: Mapping[str, Any]) -> str:
        """Return what the item and the configuration are, in 32 hex digits: equal input is paid once."""
        history = [["" if record.role == "turn" else record.role, *record.row[1:]] for record in self.history]
        prompt = self.prompt.model_dump()
        data = {"prompt": prompt, "turn": self.turn, "history": history, "settings": dict(settings)}
        return hashlib.sha256(canonical_json(data)).hexdigest()[:32]


def read_items(path: Path, columns: Columns, max_layer_chars: int) -> Iterator[Item]:
    """Yield the items of a data set, in order; the kind of file is told by its ending.

    Raises:
        DataError: the file, or a row of it, does not fit.
    """
    if not any((columns.system, columns.application, columns.user)):
        raise DataError("name at least one column for a layer: system, application or user")
    labels, found = dict[str, None](), False
    for index, row in enumerate(read_rows(path)):
        with reworded(f"{path.name}, {row.where}", PromptError, DataError, kind=DataError):
            item = _item(index, row.data, columns, max_layer_chars)
        found = found or bool(item.label)
        if columns.label and len(labels) < _MOST_TOLD:
            labels[str(row.data[columns.label])[:40]] = None
        yield item
    if columns.positive and labels and not found:
        named, there = ", ".join(columns.positive), ", ".join(labels)
        raise DataError(f"{path.name}: no label is {named}; there are {there}. Say which of them mean a violation")


def _item(index: int, row: Mapping[str, Any], columns: Columns, max_layer_chars: int) -> Item:
    missing = [name for name in columns.named if row.get(name) is None]
    if missing:
        have = ", ".join(list(row)[:12]) or "none"
        raise DataError(f"no value in column {', '.join(missing)}; the columns are {have}")
    prompt = MultiNeutrosophicPrompt(
        system=_text(row, columns.system),
        application=_text(row, columns.application),
        user=_text(row, columns.user),
        records=records_of(row[columns.material]) if columns.material else (),
    )
    prompt.check(max_layer_chars)
    item = Item(
        index=index,
        name=str(row[columns.id]) if columns.id else str(index + 1),
        prompt=prompt,
        label=_label(row[columns.label], columns.positive) if columns.label else None,
        turn=turn_of(row[columns.turn]) if columns.turn else None,
        history=history_of(row[columns.history]) if columns.history else (),
    )
    item.session()
    return item


def _text(row: Mapping[str, Any], column: str | None) -> str:
    if column is None:
        return ""
    value = row[column]
    if not isinstance(value, str):
        raise DataError(f"{column} is not text")
    return value


def _label(value: Any, positive: tuple[str, ...]) -> bool:
    word = str(value).strip().lower()
    if positive:
        return word in {name.strip().lower() for name in positive}
    if word in _YES or word in _NO:
        return word in _YES
    raise DataError(f"the label {str(value)[:40]!r} is neither yes nor no; say which values mean a violation")


def turn_of(value: Any) -> int | None:
    """Return a turn; ``None`` of an empty text.

    Raises:
        DataError: it is no whole number of 1 or more.
    """
    if isinstance(value, str) and not value.strip():
        return None
    try:
        turn = int(value)
    except (TypeError, ValueError):
        turn = 0
    if isinstance(value, (bool, float)) or not 1 <= turn <= 100_000:
        raise DataError(f"the turn {str(value)[:40]!r} is not a whole number of 1 or more")
    return turn


def history_of(value: Any) -> tuple[TranscriptRecord, ...]:
    """Return earlier turns: a list of texts, one a turn, or of messages and records; also as JSON text.

    Raises:
        DataError: it is something else.
    """
    if isinstance(value, str):
        if not value.strip():
            return ()
        with instead(DataError("history is not JSON"), ValueError, RecursionError):
            value = json.loads(value)
    return records_of(value, "turn")
