"""Writing a file that a person asked for: whole or not at all."""

from __future__ import annotations

from pathlib import Path

import click

from llm_runtime.errors import ConfigurationError


def written(path: Path, text: str) -> None:
    """Write ``text``, and say where.

    Raises:
        ConfigurationError: there is no such folder, or the file cannot be written.
    """
    if not path.absolute().parent.is_dir():
        raise ConfigurationError(f"--out {path}: there is no folder {path.parent}")
    draft = path.with_name(f".{path.name}.new")
    try:
        draft.write_text(text, encoding="utf-8", newline="")
        draft.replace(path)
    except OSError as fault:
        raise ConfigurationError(f"{path} cannot be written: {fault.strerror}") from None
    click.echo(f"written: {path}", err=True)
