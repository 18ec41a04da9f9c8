"""Files that are written whole or not at all."""

from __future__ import annotations

import os
from pathlib import Path

from llm_runtime.errors import ConfigurationError


def check_place(path: str | Path | None) -> None:
    """Refuse a file that could not be written, before anything is spent.

    Raises:
        ConfigurationError: its folder is not there.
    """
    if path is not None and not Path(path).absolute().parent.is_dir():
        raise ConfigurationError(f"{path}: there is no folder {Path(path).parent}")


def write_whole(path: Path, text: str) -> None:
    """Write a text file in one step: a reader sees the old one or the new one.

    Raises:
        ConfigurationError: it cannot be written.
    """
    draft = path.with_name(f".{path.name}.new")
    try:
        with draft.open("w", encoding="utf-8", errors="replace", newline="\n") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
    except OSError as fault:
        raise ConfigurationError(f"{path} cannot be written: {fault.strerror}") from None
