"""Files that are written whole or not at all."""

from __future__ import annotations

import errno
import os
import secrets
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from llm_runtime.errors import ConfigurationError, LlmRuntimeError


@contextmanager
def saying(
    what: str, kind: type[LlmRuntimeError] = ConfigurationError, *, then: str = "", advice: str = ""
) -> Generator[None]:
    """Say of a file in one sentence what the system refuses: ``PATH cannot be read: Permission denied``.

    Args:
        what: the beginning of the sentence.
        kind: the error.
        then: its end.
        advice: as any error has.
    """
    try:
        yield
    except OSError as fault:
        raise kind(f"{what}: {fault.strerror or fault}{then}", advice=advice) from None


def write_atomic(
    path: Path, data: str | bytes, *, durable: bool = True, private: bool = False, replace: bool = True
) -> None:
    """Write a file in one step: a reader sees the old one or the new one, never a part.

    Args:
        path: where it goes; its folder must be there.
        data: bytes, or text that is written as UTF-8 (what UTF-8 cannot hold becomes ``?``).
        durable: flush to the disk before the rename, so that a power cut leaves one of the two as well.
        private: readable by its owner only, whatever the umask allows.
        replace: with ``False`` a file that is there already stays, and ``FileExistsError`` is raised.

    Raises:
        OSError: the file cannot be written; nothing is left behind.
    """
    with atomic_file(path, durable=durable, private=private, replace=replace) as file:
        file.write(data.encode("utf-8", errors="replace") if isinstance(data, str) else data)


def private_key_text(path: Path) -> str:
    """Return the private key that a file holds, in hex; 32 bytes are drawn where there is no such file.

    Raises:
        OSError: the file can be neither read nor made.
    """
    with suppress(FileNotFoundError):
        return path.read_text(encoding="ascii", errors="replace")
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with suppress(FileExistsError):
        write_atomic(path, secrets.token_hex(32) + "\n", private=True, replace=False)
    return path.read_text(encoding="ascii", errors="replace")


def flush_folder(folder: Path) -> None:
    """Have the names in a folder survive a power cut, where the system lets folders be flushed."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


@contextmanager
def atomic_file(
    path: Path, *, durable: bool = True, private: bool = False, replace: bool = True
) -> Generator[BinaryIO]:
    """Open a file that takes its place in one step at the end of the block, for what is too much to hold at once.

    Args and errors are those of :func:`write_atomic`; where the block raises, nothing is left behind.
    """
    draft = path.with_name(f".writing-{secrets.token_hex(8)}")
    handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600 if private else 0o666)
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
            file.flush()
            if durable:
                os.fsync(file.fileno())
        if replace:
            draft.replace(path)
        else:
            # A rename would replace what is there. A link does not, but not every file system has links.
            try:
                os.link(draft, path)
            except OSError as error:
                if error.errno not in (errno.EPERM, errno.ENOTSUP) or path.exists():
                    raise
                draft.rename(path)
        if durable:
            flush_folder(path.parent)
    finally:
        with suppress(FileNotFoundError):
            draft.unlink()
