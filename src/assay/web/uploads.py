"""What a form sends in place of a file: put into one of this server's own, under the name of its contents."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

from llm_runtime.files import write_atomic
from llm_runtime.settings import data_dir

_BUILT_IN = re.compile(r"@[a-z]+")


def put_down(text: str) -> Path:
    """Write a table to a file whose ending says what it is; the same text is always in the same place.

    The folder beside it is the text's own.
    """
    first = text.lstrip()[:1]
    ending = {"{": ".jsonl", "[": ".json"}.get(first, ".csv")
    folder = data_dir() / "uploads" / hashlib.sha256(text.encode()).hexdigest()[:16]
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    path = folder / f"data{ending}"
    write_atomic(path, text)
    return path


def is_built_in(text: str) -> bool:
    """Tell whether a text names a set that comes with Assay, rather than being one."""
    return bool(_BUILT_IN.fullmatch(text.strip()))
