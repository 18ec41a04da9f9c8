"""The words of runs, taken out of their logs for searching: title, task, and what came of it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from llm_runtime.errors import RunNotFound, StoreDamaged
from llm_runtime.events import RunFinished, RunStarted
from llm_runtime.store.database import SQL
from llm_runtime.store.reading import read_event
from llm_runtime.store.run_store import RunStore

_LONGEST = 200_000
"""Characters of one run that can be searched; PostgreSQL takes no more than a mebibyte."""


def index_runs(store: RunStore, most: int = 200) -> int:
    """Take the words of runs that are new, or have ended, since the last time; return how many are left.

    Args:
        store: may be written by others meanwhile.
        most: runs that are read at once.

    Raises:
        StoreError: the store cannot be written.
    """
    rows = store.reader.execute(SQL["index_runs"])
    taken: list[tuple[int, str, bool]] = []
    left = len(rows)
    for run, run_id, before in rows:
        left -= 1
        try:
            text, over = _words_of(store, str(run_id))
        except (RunNotFound, StoreDamaged):
            text, over = "", True
        # A run under way, or cut off, that was taken before has said nothing new that is searched.
        if over or before is None:
            taken.append((int(run), text[:_LONGEST], over))
        if len(taken) == most:
            break
    with store.writer.transaction():
        for run, text, over in taken:
            store.put_words(run, text)
            query = "INSERT INTO searched VALUES (?, ?) ON CONFLICT (run) DO UPDATE SET ended = excluded.ended"
            store.writer.execute(query, (run, int(over)))
    return left if len(taken) == most else 0


def _words_of(store: RunStore, run_id: str) -> tuple[str, bool]:
    """Return the words of a run, and whether it has ended."""
    texts, over = list[str](), False
    for record in (*store.records(run_id, 0, 1), *store.records(run_id, max(store.summary(run_id).events - 2, 1), 2)):
        event = read_event(record)
        if isinstance(event, RunStarted):
            texts += [event.title, *_texts(event.task)]
        elif isinstance(event, RunFinished):
            texts += [event.message, *_texts(event.result)]
            over = True
    return "\n".join(texts), over


def _texts(data: Any) -> Iterator[str]:
    if isinstance(data, str):
        yield data
    elif isinstance(data, dict | list | tuple):
        for value in data.values() if isinstance(data, dict) else data:  # pyright: ignore[reportUnknownVariableType]
            yield from _texts(value)
