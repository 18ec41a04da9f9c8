"""One file while it is read: its text, and what of it was left out."""

from __future__ import annotations

import importlib
import re
from collections import Counter
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import cached_property, partial
from pathlib import PurePath
from typing import Any

from crux.config import CruxConfigurationError
from crux.sources.utterance import PlaceReading, Utterance, balance_of
from llm_runtime.documents.markup import Piece

MAX_FILE_BYTES = 256 * 2**20
_DATES = ("%a %b %d %H:%M:%S %z %Y", "%d-%b-%Y", "%d %b %Y", "%B %d, %Y")


class CorpusError(CruxConfigurationError):
    """A source of texts cannot be used; one line with the file and the fault. Exit code 2."""


@dataclass
class SourceFile:
    """A file of a place.

    Args:
        name: as it is shown.
        data: its bytes.
        key: what ids of its texts begin with; its name where none is given.
        characters: of all texts found so far.
    """

    name: str
    data: bytes
    key: str = ""
    characters: int = 0
    left: Counter[str] = field(default_factory=Counter[str])
    notes: list[str] = field(default_factory=list[str])
    authored: bool = True
    aliases: dict[str, None] = field(default_factory=dict[str, None])

    def __post_init__(self) -> None:
        self.key = self.key or self.stem

    @property
    def stem(self) -> str:
        """The name without its ending."""
        return PurePath(self.name).stem

    @cached_property
    def text(self) -> str:
        """The text; where it is not UTF-8, in the encoding that it most likely has, and that is noted.

        Raises:
            CorpusError: it is in no encoding that can be guessed.
        """
        if self.name.lower().endswith((".eml", ".mbox")):
            # A mail names its encodings itself; here a byte is a character.
            return self.data.decode("latin-1")
        try:
            return self.data.decode("utf-8-sig")
        except UnicodeDecodeError as fault:
            at = fault.start
        guess: Any = None
        with suppress(ImportError):
            guess = importlib.import_module("charset_normalizer").from_bytes(self.data).best()
        text = "" if guess is None else str(guess)
        if guess is None or not text or any(not (char.isprintable() or char.isspace()) for char in text):
            raise CorpusError(f"{self.name} is not UTF-8 at byte {at}; convert it first")
        self.notes.append(f"{self.name}: not UTF-8, read as {guess.encoding}, which is a guess; look at its accents")
        return text

    def leave(self, why: str, text: str) -> None:
        """Count a text of the file that is left out."""
        self.characters += len(text)
        self.left[why] += len(text)

    def enter(self, pieces: Iterable[Piece]) -> list[Piece]:
        """Count pieces as texts of the file, and return them."""
        entered = list(pieces)
        self.characters += sum(len(piece.text) for piece in entered)
        return entered

    def finished(self, utterances: Iterable[Utterance]) -> PlaceReading:
        """Return what the file gave, with the account."""
        found = tuple(utterances)
        balance = balance_of(found, self.characters, self.left)
        return PlaceReading(found, balance, tuple(self.notes), self.authored, tuple(self.aliases))


def iso_date(value: object, *, day: bool = False) -> str:
    """Return a date as ISO 8601, with its time in UTC where it has one; empty where it is none.

    Args:
        value: ISO 8601, as mails and feeds and X write it, or seconds since 1970.
        day: without the time.
    """
    text = str(value or "").strip()
    if re.fullmatch(r"\d{9,13}(\.\d+)?", text):
        moment = datetime.fromtimestamp(float(text) / (1_000 if len(text.split(".")[0]) > 11 else 1), UTC)
    elif (moment := _moment(text)) is None:
        match = re.search(r"\d{4}-\d{2}-\d{2}", text)
        return match[0] if match and _moment(match[0]) else ""
    if day or not re.search(r"\d:\d\d|^\d{9}", text):
        return moment.date().isoformat()
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


def _moment(text: str) -> datetime | None:
    for read in (datetime.fromisoformat, parsedate_to_datetime, *(partial(_by_form, form) for form in _DATES)):
        with suppress(TypeError, ValueError, IndexError, OverflowError):
            moment = read(text)
            return moment.astimezone(UTC) if moment.tzinfo else moment
    return None


def _by_form(form: str, text: str) -> datetime:
    return datetime.strptime(text, form)
