"""Files that are written whole or not at all."""

from __future__ import annotations

import os
import tempfile
from contextlib import suppress
from pathlib import Path


def write_atomic(
    path: Path, data: str | bytes, *, durable: bool = True, private: bool = False, replace: bool = True
) -> None:
    """Write a file in one step: a reader sees the old one or the new one, never a part.

    Args:
        path: where it goes; its folder must be there.
        data: bytes, or text that is written as UTF-8 (what UTF-8 cannot hold becomes ``?``).
        durable: flush to the disk before the rename, so that a power cut leaves one of the two as well.
        private: mode 0600 in place of 0644.
        replace: with ``False`` a file that is there already stays, and ``FileExistsError`` is raised.

    Raises:
        OSError: the file cannot be written; nothing is left behind.
    """
    raw = data.encode("utf-8", errors="replace") if isinstance(data, str) else data
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=".writing-")
    draft = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(raw)
            file.flush()
            if not private:
                os.fchmod(file.fileno(), 0o644)
            if durable:
                os.fsync(file.fileno())
        if replace:
            draft.replace(path)
        else:
            os.link(draft, path)
    finally:
        with suppress(FileNotFoundError):
            draft.unlink()
