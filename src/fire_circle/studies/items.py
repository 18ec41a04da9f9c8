"""A study's own copy of its data: one JSON line an item, the same form for a person's file and for our own sets."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator
from dataclasses import field
from pathlib import Path
from typing import IO, Any

from fire_circle import datasets
from fire_circle.rows import Columns, DataError, Item, read_items
from fire_circle.transcripts import TranscriptRecord
from llm_runtime.errors import ConfigurationError, StoreUnwritable
from llm_runtime.files import atomic_file, saying
from llm_runtime.structs import Struct

#: Our own sets, by the names that the command line knows.
BUILT_IN = ("@pairs", "@histories", "@overdefence")
NO_TURN_BEFORE = "no earlier turn"
OTHER_HISTORY = "another history"
"""The two kinds of false history; the first can be told by the turn number alone (docs/fire-circle-dataset.md)."""
_GROUPS = ("category", "split", "pair", "kind")


class Row(Struct):
    """An item, and what measurements group it by.

    Args:
        item: prompt, label, turn, history.
        category: of harmless prompts: the family of words; empty where there is none.
        split: ``"development"`` or ``"test"`` where the data set says so itself.
        pair: shared by two items whose verdicts must differ.
        kind: of the pair.
    """

    item: Item
    category: str = ""
    split: str = ""
    pair: str = ""
    kind: str = ""


class Written(Struct):
    """What a file of items holds: how many, whether all have labels, and a digest of its bytes."""

    items: int
    labelled: bool
    digest: str


class Source(Struct):
    """Where items come from.

    Args:
        data: a path, or one of :data:`BUILT_IN`.
        columns: which column holds what; not for our own sets.
        category: the column of harmless prompts' families.
        limit: at most this many items, spread evenly over the data.
    """

    data: str
    columns: Columns = field(default_factory=Columns)
    category: str | None = None
    limit: int | None = None

    def rows(self, max_layer_chars: int) -> Iterator[Row]:
        """Yield the rows, one at a time, in order.

        Raises:
            DataError, DatasetError: the data set, or a row of it, does not fit.
        """
        if self.limit is None:
            yield from self._all(max_layer_chars)
            return
        count = sum(1 for _ in self._all(max_layer_chars))
        wanted = {place * count // self.limit for place in range(self.limit)} if count > self.limit else None
        for place, row in enumerate(self._all(max_layer_chars)):
            if wanted is None or place in wanted:
                yield row

    def _all(self, max_layer_chars: int) -> Iterator[Row]:
        return built_in(self.data) if self.data.startswith("@") else self._file(max_layer_chars)

    def _file(self, max_layer_chars: int) -> Iterator[Row]:
        path = Path(self.data)
        items = read_items(path, self.columns, max_layer_chars)
        if self.category is None:
            yield from map(Row, items)
            return
        named = self.columns.model_copy(update={"id": self.category})
        for item, category in zip(items, read_items(path, named, max_layer_chars), strict=True):
            yield Row(item, category=category.name)


def built_in(name: str) -> Iterator[Row]:
    """Yield the rows of one of our own sets.

    Raises:
        ConfigurationError: there is no such set.
    """
    if name == "@overdefence":
        for number, case in enumerate(datasets.load_overdefence()):
            yield Row(_item(number, case), category=case.category, split=case.split)
        return
    if name not in BUILT_IN:
        raise ConfigurationError(f"there is no data set {name}; there are {', '.join(BUILT_IN)}, or give a file")
    twins = datasets.load_temporal_pairs() if name == "@pairs" else datasets.load_histories()
    number = 0
    for pair in twins:
        kind = NO_TURN_BEFORE if pair.violation.turn_count == 1 else OTHER_HISTORY
        for case in (pair.benign, pair.violation):
            yield Row(_item(number, case), split=pair.split, pair=pair.pair_id, kind=kind)
            number += 1


def count_items(rows: Iterable[Row], out: IO[bytes] | None = None) -> Written:
    """Read every row, and write it to ``out`` as a line of a file of items where there is one.

    Raises:
        DataError: there are none, or one does not fit.
        OSError: ``out`` cannot be written.
    """
    digest, count, labels = hashlib.sha256(), 0, 0
    for row in rows:
        line = json.dumps(_data(row), ensure_ascii=False, sort_keys=True).encode() + b"\n"
        digest.update(line)
        if out is not None:
            out.write(line)
        count += 1
        labels += row.item.label is not None
    if not count:
        raise DataError("the data set has no rows")
    return Written(count, labels == count, digest.hexdigest())


def write_items(path: Path, rows: Iterable[Row]) -> Written:
    """Write rows as a file of items, in one step.

    Raises:
        DataError: as for :func:`count_items`; nothing was written.
        StoreUnwritable: it cannot be written.
    """
    with saying(f"{path} cannot be written", StoreUnwritable), atomic_file(path) as out:
        return count_items(rows, out)


def columns_of(labelled: bool) -> Columns:
    """Return the columns of a file of items."""
    named = {name: name for name in ("system", "application", "user", "turn", "history", "material", "id")}
    return Columns.model_validate({**named, "label": "label" if labelled else None})


def groups_of(path: Path) -> Iterator[dict[str, str]]:
    """Yield category, split, pair, kind and the beginning of the judged text of each item, in order."""
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            data = json.loads(line)
            text = data["user"] or data["application"] or data["system"]
            yield {**{name: data[name] for name in _GROUPS}, "text": text[:240]}


def _item(number: int, case: datasets.Case) -> Item:
    said = tuple(TranscriptRecord(role=turn.role, text=turn.content) for turn in case.history)
    return Item(index=number, name=case.id, prompt=case.layers, label=case.label, turn=case.turn_count, history=said)


def _data(row: Row) -> dict[str, Any]:
    item = row.item
    return {
        "id": item.name,
        **item.prompt.model_dump(include={"system", "application", "user"}),
        "label": item.label,
        "turn": "" if item.turn is None else item.turn,
        "history": [record.row for record in item.history],
        "material": [record.row for record in item.prompt.records],
        **{name: getattr(row, name) for name in _GROUPS},
    }
