"""Looking after a store while it is in use: copies, tags, what may go, and room that is given back."""

from __future__ import annotations

import os
import re
import sqlite3
from collections.abc import Collection, Iterable, Iterator
from contextlib import closing, suppress
from pathlib import Path

from llm_runtime.errors import ConfigurationError, RunNotFound, StoreBusy, StoreUnwritable
from llm_runtime.files import flush_folder
from llm_runtime.store.database import Database
from llm_runtime.store.faults import explained
from llm_runtime.store.notes import notes_of, write_note
from llm_runtime.store.run_store import RunStore
from llm_runtime.store.summary import RunSummary

_TAG = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}", re.ASCII)
_PAGE = 256


def copy_file(source: Path, target: Path) -> None:
    """Copy a database of SQLite's as it is at one moment, while others write it; the copy is whole or not there.

    Raises:
        ConfigurationError: there is a file of that name already.
        StoreError: one of the two cannot be used.
    """
    if target.exists():
        same = "is the store itself" if target.samefile(source) else "is there already"
        raise ConfigurationError(f"{target} {same}; name a file that is not there")
    draft = target.with_name(f".writing-{target.name}")
    try:
        target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        draft.unlink(missing_ok=True)
        draft.touch(mode=0o600)
        with (
            explained(draft),
            closing(sqlite3.connect(f"{source.absolute().as_uri()}?mode=ro", uri=True)) as here,
            closing(sqlite3.connect(draft)) as there,
        ):
            here.backup(there)
        with draft.open("rb") as file:
            os.fsync(file.fileno())
        draft.rename(target)
        flush_folder(target.parent)
    except OSError as fault:
        raise StoreUnwritable(f"the copy {target} cannot be written: {fault.strerror}; name another place") from None
    finally:
        with suppress(OSError):
            draft.unlink(missing_ok=True)


def copy_runs(source: RunStore, target: RunStore) -> Iterator[str]:
    """Copy every run that the target has not, with head, tags and notes, as far as it has come; yield their ids."""
    for run in every_run(source):
        try:
            target.summary(run.run_id)
        except RunNotFound:
            # The head is read first: a run that is being written can only be longer than it says.
            signed, _ = source.heads.load(run.run_id) or (None, b"")
            target.adopt(run.run_id, source.records(run.run_id), signed)
            for tag in tags_of(source, run.run_id):
                mark(target, run.run_id, tag)
            for note in notes_of(source, [run.run_id])[run.run_id]:
                write_note(target, note)
            yield run.run_id


def copy_tables(source: Database, target: Database, tables: Iterable[str]) -> None:
    """Copy all rows of tables into empty ones of the same names and columns in a SQLite file."""
    with source.transaction(), target.transaction():
        for table in tables:
            columns = [str(row[1]) for row in target.execute(f"PRAGMA table_info({table})")]
            rows = source.execute(f"SELECT {', '.join(columns)} FROM {table}")
            target.many(f"INSERT INTO {table} VALUES ({', '.join('?' * len(columns))})", rows)


def every_run(store: RunStore) -> Iterator[RunSummary]:
    """Yield all runs, newest first."""
    before: str | None = None
    while page := store.runs(limit=_PAGE, before=before):
        before = page[-1].run_id
        yield from page


def set_tags(store: RunStore, run_id: str, add: Collection[str], remove: Collection[str] = ()) -> None:
    """Put tags on a run, or take them off.

    Raises:
        ConfigurationError: a tag is not one.
    """
    for tag in (*add, *remove):
        if not _TAG.fullmatch(tag):
            raise ConfigurationError(f"not a tag: {tag[:80]!r}; use 1 to 64 of A-Z, a-z, 0-9, . _ -")
    for tag in add:
        mark(store, run_id, tag)
    for tag in remove:
        mark(store, run_id, tag, off=True)


def mark(store: RunStore, run_id: str, tag: str, *, off: bool = False) -> None:
    """Put a tag of a program's own on a run, or take it off: one with a colon nobody can type."""
    if off:
        store.writer.execute("DELETE FROM tags WHERE run_id = ? AND tag = ?", (run_id, tag))
    else:
        store.writer.execute("INSERT INTO tags VALUES (?, ?) ON CONFLICT DO NOTHING", (run_id, tag))


def tags_of(store: RunStore, run_id: str) -> list[str]:
    """Return a run's tags."""
    return [row[0] for row in store.reader.execute("SELECT tag FROM tags WHERE run_id = ? ORDER BY tag", (run_id,))]


def old_runs(store: RunStore, before: int, keep: Collection[str], needed: tuple[str, ...] = ()) -> list[RunSummary]:
    """Return the runs that may go: last written before a time, held by nobody, without any of some tags.

    Args:
        before: milliseconds since the Unix epoch.
        keep: tags whose runs stay.
        needed: what the ids of further runs that stay begin with.

    Raises:
        ConfigurationError: no run has one of the tags.
    """
    tagged = [(str(run_id), str(tag)) for run_id, tag in store.reader.execute("SELECT run_id, tag FROM tags")]
    if unknown := sorted({*keep} - {tag for _, tag in tagged}):
        raise ConfigurationError(
            f"no run has the tag {ascii(unknown[0])[1:-1]}; put it on what is to stay", advice="assay runs tag"
        )
    stay = {run_id for run_id, tag in tagged if tag in keep}
    over = (run for run in every_run(store) if run.updated_at < before and run.state != "running")
    return [run for run in over if run.run_id not in stay and not run.run_id.startswith(needed)]


def remove(store: RunStore, runs: Iterable[RunSummary]) -> tuple[list[str], list[str]]:
    """Delete runs, and return the ids of those that are gone and of those that somebody holds by now."""
    gone: list[str] = []
    held: list[str] = []
    for run in runs:
        try:
            store.delete(run.run_id)
        except StoreBusy:
            held.append(run.run_id)
        except RunNotFound:
            continue
        else:
            gone.append(run.run_id)
    return gone, held
