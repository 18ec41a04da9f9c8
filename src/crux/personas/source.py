"""One file of a person's texts: read within the limit, and cleaned of all but its words."""

from __future__ import annotations

import importlib
import re
from pathlib import Path
from typing import Any

from crux.config import CruxConfigurationError
from llm_runtime.documents.markup import clean, looks_like_html, marked, marked_text, spans_of

MAX_FILE_BYTES = 256 * 2**20
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")


class CorpusError(CruxConfigurationError):
    """A source of texts cannot be used; one line with the file and the fault. Exit code 2."""


def read_text(path: Path, notes: list[str] | None = None) -> str:
    """Read a file's text; where it is not UTF-8, in the encoding that it most likely has, and note that.

    Args:
        notes: takes a line where the encoding was guessed.

    Raises:
        CorpusError: it is too large, unreadable, or in no encoding that can be guessed.
    """
    try:
        size = path.stat().st_size
        if size > MAX_FILE_BYTES:
            raise CorpusError(
                f"{path.name} is {size / 2**20:.0f} MiB, the limit is {MAX_FILE_BYTES // 2**20}; split it"
            )
        raw = path.read_bytes()
    except OSError as fault:
        raise CorpusError(f"{path.name} cannot be read: {fault.strerror}") from None
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as fault:
        guess = _guessed(raw)
        if guess is None:
            raise CorpusError(f"{path.name} is not UTF-8 at byte {fault.start}; convert it first") from None
    if notes is not None:
        notes.append(f"{path.name}: not UTF-8, read as {guess[1]}, which is a guess; look at its accents")
    return guess[0]


def _guessed(raw: bytes) -> tuple[str, str] | None:
    """Return the text and its encoding by its looks; None where these tell nothing."""
    try:
        guess: Any = importlib.import_module("charset_normalizer").from_bytes(raw).best()
    except ImportError:
        return None
    if guess is None:
        return None
    text = str(guess)
    unseen = any(not (char.isprintable() or char.isspace()) for char in text)
    return None if unseen or not text else (text, str(guess.encoding))


def plain(text: str) -> str:
    """Clean a text; HTML becomes what a reader would read."""
    return readable(text)[0]


def readable(text: str) -> tuple[str, tuple[tuple[int, int], ...] | None]:
    """Clean a text, as :func:`plain`; return it with the spans of its block quotations, None where it has none."""
    whole, spans = spans_of(clean(marked_text(text) if looks_like_html(text) else marked(text)))
    return whole, spans or None


def iso_date(text: str) -> str:
    """Return the ISO date that a text begins with or holds; empty where there is none."""
    match = _DATE.search(text)
    return match[0] if match else ""
