"""Texts at an address: fetched into a folder as a file that an import can read."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import urlsplit

from crux.sources.file import CorpusError
from llm_runtime.documents.reading import ENDINGS
from llm_runtime.http.public import Page


def is_address(place: str) -> bool:
    """Tell whether a place is an address of the web, and no path."""
    return bool(re.match(r"[a-zA-Z][a-zA-Z0-9+.-]*://", place))


def as_file(page: Page, folder: Path) -> Path:
    """Write a page into a folder under a name that tells what it is; return the file.

    Raises:
        CorpusError: it is of a kind that no import reads.
    """
    path = urlsplit(page.url).path.rstrip("/")
    ending = ENDINGS.get(page.kind) or Path(path).suffix.lower()
    if ending not in ENDINGS.values() or ending == ".xlsx":
        raise CorpusError(f"{page.url[:200]} is {page.kind or 'of no named kind'}, which nothing here reads")
    stem = re.sub(r"[^\w-]+", "-", f"{urlsplit(page.url).hostname}{path}").strip("-")[:100]
    file = folder / f"{stem}{ending}"
    file.write_bytes(page.body)
    return file
