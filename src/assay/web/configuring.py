"""Changes files that people write themselves, in TOML; their own comments and order stay."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from llm_runtime.extras import needing
from llm_runtime.files import saying, write_atomic
from llm_runtime.keys import read_toml
from llm_runtime.models import fits
from llm_runtime.rewording import reworded
from llm_runtime.settings import ConfigFile, load_settings

with needing("a server's list of people and keys", "web"):
    import tomlkit
    from tomlkit.exceptions import ParseError


def change_config(config: Path, changes: Mapping[str, Any], *tables: str) -> None:
    """Change entries of ``config.toml``, the whole of it at once or not at all.

    Args:
        config: the folder that it lies in.
        changes: entries by name; ``None`` takes one out.
        tables: where they stand, each in the one before; none for the file itself.

    Raises:
        ConfigurationError: the file would hold something that does not fit, or cannot be written.
    """
    path = config / "config.toml"
    read_toml(path)

    def check(data: Mapping[str, Any]) -> None:
        with fits(""):
            # A server that cannot be asked, with the key that it has, would stop every page.
            load_settings(config=config, file=ConfigFile.model_validate(data))

    with changing(path, check) as document:
        for name in tables:
            document = document.setdefault(name, tomlkit.table(is_super_table=name != tables[-1]))
        put(document, changes)


@contextmanager
def changing(path: Path, check: Callable[[Mapping[str, Any]], object], *, private: bool = False) -> Generator[Any]:
    """Change a TOML file, all of it or nothing; comments and order stay.

    Args:
        path: made where it is not there.
        check: refuses what must not stand in it.
        private: whether its owner alone may read it.

    Raises:
        ConfigurationError: it cannot be read or written.
    """
    with reworded(f"{path} cannot be read", ParseError, UnicodeDecodeError, OSError):
        document = tomlkit.parse(path.read_text(encoding="utf-8-sig")) if path.exists() else tomlkit.document()
    yield document
    check(document.unwrap())
    with saying(f"{path} cannot be written"):
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        write_atomic(path, tomlkit.dumps(document), private=private)


def put(table: Any, changes: Mapping[str, Any]) -> None:
    """Put entries into a table; ``None`` takes one out."""
    for name, value in changes.items():
        if value is not None:
            table[name] = value
        else:
            table.pop(name, None)
