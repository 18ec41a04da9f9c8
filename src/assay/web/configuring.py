"""Writes what the settings page changes of ``config.toml``; the person's own comments and order stay."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import tomlkit
from pydantic import ValidationError
from tomlkit.exceptions import ParseError

from llm_runtime.errors import ConfigurationError
from llm_runtime.files import write_atomic
from llm_runtime.models import first_fault
from llm_runtime.settings import ConfigFile


def change_config(config: Path, changes: Mapping[str, Any], table: str = "") -> None:
    """Change entries of the file, the whole of it at once or not at all.

    Args:
        config: the folder that it lies in.
        changes: entries by name; ``None`` takes one out.
        table: where they stand; empty for the file itself.

    Raises:
        ConfigurationError: the file would hold something that does not fit, or cannot be written.
    """
    path = config / "config.toml"
    try:
        document = tomlkit.parse(path.read_text(encoding="utf-8")) if path.exists() else tomlkit.document()
    except (ParseError, UnicodeDecodeError, OSError) as fault:
        raise ConfigurationError(f"{path} cannot be read: {fault}") from None
    place: Any = document
    if table:
        place = document.setdefault(table, tomlkit.table(is_super_table=True))
    for name, value in changes.items():
        if value is not None:
            place[name] = value
        elif name in place:
            del place[name]
    try:
        ConfigFile.model_validate(document.unwrap())
    except ValidationError as fault:
        raise ConfigurationError(first_fault(fault)) from None
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        write_atomic(path, tomlkit.dumps(document))
    except OSError as fault:
        raise ConfigurationError(f"{path} cannot be written: {fault.strerror}") from None
