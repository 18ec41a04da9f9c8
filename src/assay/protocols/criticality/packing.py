"""A built project as one ZIP file: what belongs to it, and nothing that tools put beside it."""

from __future__ import annotations

import os
import zipfile
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path

from llm_runtime.errors import ConfigurationError

_NOT_ITS_OWN = {"__pycache__", "build", "dist", "node_modules", "target"}
_MOST = 64 << 20


def packed(root: Path) -> bytes:
    """Return the project in a build's folder.

    Raises:
        ConfigurationError: its folder is not on this machine, or holds more than 64 MiB.
    """
    if not (root / ".criticality").is_dir():
        raise ConfigurationError("the folder of this project is not on this machine (any more)")
    data, size = BytesIO(), 0
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in _files(root):
            size += path.stat().st_size
            if size > _MOST:
                raise ConfigurationError(f"{root} holds more than {_MOST >> 20} MiB; copy the folder instead")
            archive.writestr(f"{root.name}/{path.relative_to(root).as_posix()}", path.read_bytes())
    return data.getvalue()


def _files(root: Path) -> Iterator[Path]:
    """Return its files in order, without hidden ones, which may hold keys, and links, which may lead anywhere."""
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(name for name in folders if name not in _NOT_ITS_OWN and not name.startswith("."))
        paths = (Path(folder, name) for name in sorted(names) if name == ".gitignore" or not name.startswith("."))
        yield from (path for path in paths if path.is_file() and not path.is_symlink())
