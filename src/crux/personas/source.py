"""One file of a person's texts: read within the limit, and cleaned of all but its words."""

from __future__ import annotations

import re
from pathlib import Path

from crux.config import CruxConfigurationError
from llm_runtime.documents.markup import clean, looks_like_html, marked, marked_text, spans_of

MAX_FILE_BYTES = 256 * 2**20
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")


class CorpusError(CruxConfigurationError):
    """A source of texts cannot be used; one line with the file and the fault. Exit code 2."""


def read_text(path: Path) -> str:
    """Read a file's text.

    Raises:
        CorpusError: it is too large, unreadable or not UTF-8.
    """
    try:
        size = path.stat().st_size
        if size > MAX_FILE_BYTES:
            raise CorpusError(
                f"{path.name} is {size / 2**20:.0f} MiB, the limit is {MAX_FILE_BYTES // 2**20}; split it"
            )
        return path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as fault:
        raise CorpusError(f"{path.name} is not UTF-8 at byte {fault.start}; convert it first") from None
    except OSError as fault:
        raise CorpusError(f"{path.name} cannot be read: {fault.strerror}") from None


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
