"""Files that are written whole or not at all."""

from __future__ import annotations

from pathlib import Path

from llm_runtime.errors import ConfigurationError
from llm_runtime.files import write_atomic


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
    try:
        write_atomic(path, text)
    except OSError as fault:
        raise ConfigurationError(f"{path} cannot be written: {fault.strerror}") from None
