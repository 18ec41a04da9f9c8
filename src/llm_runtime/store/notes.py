"""What people write beside runs: a note, a rating, a label. It is no part of any log."""

from __future__ import annotations

from collections.abc import Sequence

from llm_runtime.clock import now_ms
from llm_runtime.errors import ConfigurationError
from llm_runtime.store.database import SQL
from llm_runtime.store.run_store import RunStore
from llm_runtime.structs import Struct

_LONGEST = 10_000
_NAME = 64
_MOST = 500
"""Ids that one statement asks for."""


class Note(Struct):
    """What one person wrote beside one run.

    Args:
        run_id: which run.
        who: who wrote it.
        note: in their words.
        rating: 1 to 5; ``None`` for none.
        label: one word or few, to be counted.
        at: milliseconds since the Unix epoch.
        place: what in the run it is about; empty for all of it.
    """

    run_id: str
    who: str
    note: str = ""
    rating: int | None = None
    label: str = ""
    at: int = 0
    place: str = ""


def write_note(store: RunStore, note: Note) -> None:
    """Write a note in place of the same person's earlier one; an empty one takes that out.

    Raises:
        RunNotFound: there is no such run.
        ConfigurationError: the rating is none, or a text is too long.
        StoreError: the store cannot be written.
    """
    store.summary(note.run_id)
    _check(note)
    if not (note.note or note.label or note.rating):
        one = (note.run_id, note.place, note.who)
        store.writer.execute("DELETE FROM notes WHERE run_id = ? AND place = ? AND who = ?", one)
        return
    texts = [text.replace("\0", "\ufffd") for text in (note.note, note.label)]
    row = (note.run_id, note.place, note.who.replace("\0", ""), *texts, note.rating, note.at or now_ms())
    store.writer.execute(SQL["write_note"], row)


def _check(note: Note) -> None:
    if not note.who.strip() or max(len(note.who), len(note.label)) > _NAME or len(note.note) > _LONGEST:
        raise ConfigurationError(
            f"a note needs a name; name and label have at most {_NAME} characters, its text {_LONGEST:,}"
        )
    if note.rating is not None and not 1 <= note.rating <= 5:
        raise ConfigurationError("a rating is 1 to 5")


def notes_of(store: RunStore, run_ids: Sequence[str]) -> dict[str, list[Note]]:
    """Return the notes beside runs by their ids, oldest first."""
    notes: dict[str, list[Note]] = {run_id: [] for run_id in run_ids}
    for start in range(0, len(run_ids), _MOST):
        page = run_ids[start : start + _MOST]
        for row in store.reader.execute(SQL["notes_of"].format(marks=", ".join("?" * len(page))), page):
            notes[row[0]].append(Note(*row))
    return notes


def tags_of_runs(store: RunStore, run_ids: Sequence[str]) -> dict[str, list[str]]:
    """Return the tags of runs by their ids."""
    tags: dict[str, list[str]] = {run_id: [] for run_id in run_ids}
    for start in range(0, len(run_ids), _MOST):
        page = run_ids[start : start + _MOST]
        query = f"SELECT run_id, tag FROM tags WHERE run_id IN ({', '.join('?' * len(page))}) ORDER BY tag"
        for run_id, tag in store.reader.execute(query, page):
            tags[run_id].append(tag)
    return tags


def all_tags(store: RunStore, among: Sequence[str] | None = None) -> list[str]:
    """Return the tags of all runs, or of those that have one of ``among``: the most used first, at most 100."""
    having = ", ".join("?" * len(among or ()))
    where = "" if among is None else f"WHERE run_id IN (SELECT run_id FROM tags WHERE tag IN ({having}))"
    query = f"SELECT tag FROM tags {where} GROUP BY tag ORDER BY count(*) DESC, tag LIMIT 100"
    return [str(tag) for (tag,) in store.reader.execute(query, among or ())]
