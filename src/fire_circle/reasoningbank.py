"""A library of patterns that circles found: one SQLite file with full-text search (FC24)."""

from __future__ import annotations

import hashlib
import json
import re
import sqlite3
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from importlib import resources
from pathlib import Path
from typing import Any

from pydantic import Field

from fire_circle.results import FireCircleResult
from llm_runtime.errors import StoreDamaged, StoreUnwritable
from llm_runtime.models import Model, fits
from llm_runtime.rewording import reworded

CATEGORY = "fire_circle_pattern"

_WORD = re.compile(r"\w{5,40}")
_MOST_TEXT, _MOST_WORDS, _SHARED = 20_000, 60, 3

_FOUND = "texts JOIN entries e ON e.number = texts.rowid"
_SCHEMA = resources.files("fire_circle").joinpath("data/bank.sql").read_text("utf-8")


class BankEntry(Model):
    """One stored pattern.

    Args:
        category: ``"fire_circle_pattern"``.
        subcategory: the pattern type.
        content: ``description``, ``agreement``, ``attack_id``, ``examples``, ``models``, as specified.
    """

    category: str
    subcategory: str
    content: BankContent

    @property
    def id(self) -> str:
        """A digest of the entry: the same pattern of the same attack is stored once."""
        return hashlib.sha256(self.model_dump_json().encode()).hexdigest()[:32]


class BankContent(Model):
    """What is known of a pattern; ``agreement`` is 0.0 to 1.0."""

    description: str
    agreement: float = Field(ge=0.0, le=1.0, allow_inf_nan=False)
    attack_id: str
    examples: tuple[str, ...] = ()
    models: tuple[str, ...] = ()


class ReasoningBank:
    """Patterns, kept in a file. Use it as a context manager, or call :meth:`close`.

    Args:
        path: the file; made where it does not exist. ``":memory:"`` keeps nothing.

    Raises:
        StoreDamaged: the file is not a pattern library.
        StoreUnwritable: it cannot be opened or written.
    """

    def __init__(self, path: str | Path = ":memory:") -> None:
        self._path = str(path)
        with self._faults(), ExitStack() as undo:
            self._db = sqlite3.connect(self._path)
            undo.callback(self._db.close)
            self._db.execute("PRAGMA busy_timeout = 5000")
            self._db.execute("PRAGMA journal_mode = WAL")
            self._db.executescript(_SCHEMA)
            undo.pop_all()

    def close(self) -> None:
        """Close the file."""
        self._db.close()

    def __enter__(self) -> ReasoningBank:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def store(self, *, category: str, subcategory: str, content: dict[str, Any]) -> bool:
        """Store one pattern, as the specification calls it; false if the very same is there already.

        Raises:
            ValueError: ``content`` is not of the form of :class:`BankContent`.
            StoreError: it could not be written.
        """
        entry = {"category": category, "subcategory": subcategory, "content": content}
        return self._add([BankEntry.model_validate(entry)]) == 1

    def _add(self, entries: Iterable[BankEntry]) -> int:
        added = 0
        with self._faults(), self._db:
            for entry in entries:
                content = entry.content
                kind = entry.id, entry.category, entry.subcategory
                row = self._db.execute(
                    "INSERT OR IGNORE INTO entries (id, category, subcategory, attack_id, agreement, content) "
                    "VALUES (?, ?, ?, ?, ?, ?)",
                    (*kind, content.attack_id, content.agreement, content.model_dump_json()),
                )
                if row.rowcount:
                    added += 1
                    texts = (row.lastrowid, content.description, "\n".join(content.examples))
                    self._db.execute("INSERT INTO texts (rowid, description, examples) VALUES (?, ?, ?)", texts)
        return added

    def query(
        self, *, pattern_type: str | None = None, attack_id: str | None = None, min_agreement: float = 0.0,
        search: str | None = None, limit: int = 100,
    ) -> list[BankEntry]:  # fmt: skip
        """Return entries that fit all arguments: by relevance with ``search``, else most agreed first, then oldest.

        Args:
            search: words that must all occur in the description or the quotes; nothing in it is syntax.
            limit: at most this many, 1 or more.
        """
        where, values = ["e.agreement >= ?"], [min_agreement]
        tables, order = "entries e", "e.agreement DESC, e.number"
        arguments: list[str | float | int] = list(values)
        for column, value in (("e.subcategory", pattern_type), ("e.attack_id", attack_id)):
            if value is not None:
                where.append(f"{column} = ?")
                arguments.append(value)
        if search is not None:
            words = [f'"{word.replace(chr(34), chr(34) * 2)}"' for word in search.replace("\x00", " ").split()]
            if not words:
                return []
            tables, order = _FOUND, "texts.rank, e.number"
            where.append("texts MATCH ?")
            arguments.append(" ".join(words))
        arguments.append(max(1, limit))
        return self._entries(f"{tables} WHERE {' AND '.join(where)} ORDER BY {order} LIMIT ?", arguments)

    def _entries(self, of: str, arguments: Sequence[str | float | int] = ()) -> list[BankEntry]:
        with self._faults():
            sql = f"SELECT e.category, e.subcategory, e.content FROM {of}"
            return [_entry(*row) for row in self._db.execute(sql, arguments).fetchall()]

    def similar(self, text: str, limit: int = 3) -> str:
        """Return patterns whose quotes share at least three longer words with ``text``, as JSON; or nothing.

        Args:
            limit: at most this many, those first whose words are the rarest.
        """
        words = dict.fromkeys(_WORD.findall(text[:_MOST_TEXT].lower()))
        wanted = " OR ".join(f'"{word}"' for word in list(words)[:_MOST_WORDS])
        if not wanted:
            return ""
        found = self._entries(f"{_FOUND} WHERE texts MATCH ? ORDER BY texts.rank, e.number LIMIT 20", [wanted])
        alike = [
            {"kind": entry.subcategory, "pattern": entry.content.description, "quotes": entry.content.examples[:2]}
            for entry in found
            if len(words.keys() & set(_WORD.findall(" ".join(entry.content.examples).lower()))) >= _SHARED
        ]
        return json.dumps(alike[:limit], ensure_ascii=False, indent=1) if alike else ""

    def __len__(self) -> int:
        with self._faults():
            return int(self._db.execute("SELECT count(*) FROM entries").fetchone()[0])

    def export(self) -> Iterator[str]:
        """Return every entry as one line of JSON, oldest first."""
        return (entry.model_dump_json() for entry in self._entries("entries e ORDER BY e.number"))

    def load(self, lines: Iterable[str]) -> int:
        """Take in what :meth:`export` wrote, all or nothing; return how many entries were new.

        Raises:
            StoreDamaged: a line is not an entry; its number is in the message.
        """
        entries: list[BankEntry] = []
        for number, line in enumerate(lines, start=1):
            if not line.strip():
                continue
            with fits(f"line {number} is not an entry of a pattern library: ", StoreDamaged):
                entries.append(BankEntry.model_validate_json(line))
        return self._add(entries)

    @contextmanager
    def _faults(self) -> Generator[None]:
        try:
            yield
        except sqlite3.OperationalError as fault:
            raise StoreUnwritable(f"the pattern library {self._path} cannot be used: {fault}") from None
        except sqlite3.DatabaseError as fault:
            raise StoreDamaged(f"{self._path} is not a pattern library: {fault}") from None


def store_fire_circle_patterns(result: FireCircleResult, attack_id: str, reasoningbank: ReasoningBank) -> int:
    """Store every pattern of a result, one entry each; return how many were new.

    Raises:
        StoreError: the library cannot be written.
    """
    added = 0
    for one in result.patterns:
        told = {"description": one.description, "agreement": one.model_agreement, "attack_id": attack_id}
        content = {**told, "examples": one.examples, "models": one.models_observing}
        added += reasoningbank.store(category=CATEGORY, subcategory=one.pattern_type, content=content)
    return added


def _entry(category: str, subcategory: str, content: str) -> BankEntry:
    with reworded("an entry of the pattern library cannot be read", ValueError, TypeError, kind=StoreDamaged):
        return BankEntry(category=category, subcategory=subcategory, content=BankContent(**json.loads(content)))
