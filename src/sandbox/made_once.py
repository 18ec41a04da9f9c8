"""Folders that boxes are made of, which are made once, kept by a digest, and written by nobody afterwards."""

from __future__ import annotations

import os
import shutil
import stat
import tempfile
from collections.abc import Callable, Iterator
from functools import cache
from hashlib import sha256
from pathlib import Path

from filelock import FileLock
from platformdirs import user_cache_path

from sandbox.errors import BadRoot

_BLOCK = 1 << 20
_DIGEST = "sha256"


def made_once(kind: str, key: str, make: Callable[[Path], None]) -> Path:
    """Return the folder of a kind and key in the cache; it is whole, or not there at all.

    Args:
        kind: ``packages`` or ``images``.
        key: a digest in hex of all that it is made from.
        make: fills an empty folder.

    Raises:
        BadRoot: it cannot be made or kept, or is not what was made.
    """
    place = _cache() / "boxes" / kind / key
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(place.with_suffix(".lock")):
            if not place.is_dir():
                _make(place, make)
    except OSError as fault:
        raise BadRoot(f"{fault.filename or place}: {fault.strerror or fault}") from None
    content = place / "content"
    if content_digest(content) != (place / _DIGEST).read_text():
        raise BadRoot(f"{place} was changed since it was made; delete it, and it is made again")
    return content


def _cache() -> Path:
    """Return the user's cache; where the user as whom root's boxes run cannot come, the system's."""
    own = user_cache_path("assay", appauthor=False)
    closed = any(path.exists() and not path.stat().st_mode & 0o001 for path in (own, *own.parents))
    return Path("/var/cache/assay") if closed and os.geteuid() == 0 else own


def _make(place: Path, make: Callable[[Path], None]) -> None:
    draft = Path(tempfile.mkdtemp(prefix=".", dir=place.parent))
    try:
        (draft / "content").mkdir()
        make(draft / "content")
        for path in (draft, *draft.rglob("*")):
            if not path.is_symlink():
                # A box runs as another user where root starts it.
                path.chmod(0o755 if path.is_dir() else 0o555 if path.stat().st_mode & 0o100 else 0o444)
        (draft / _DIGEST).write_text(content_digest(draft / "content"))
        draft.rename(place)
    except BaseException:
        shutil.rmtree(draft, ignore_errors=True)
        raise


@cache
def content_digest(folder: Path) -> str:
    """Return SHA-256 over names, modes and contents of all that lies in a folder, links as links, in hex."""
    total = sha256()
    for path in files_of(folder):
        status = path.lstat()
        total.update(f"{path.relative_to(folder)}\0{status.st_mode:o}\0".encode("utf-8", "surrogateescape"))
        if stat.S_ISREG(status.st_mode) or path.is_symlink():
            total.update(file_content(path))
    return total.hexdigest()


def files_of(folder: Path) -> Iterator[Path]:
    """Yield the files and links below a folder, in one fixed order."""
    for place, folders, files in os.walk(folder):
        folders.sort()
        links = (name for name in folders if Path(place, name).is_symlink())
        yield from (Path(place, name) for name in sorted([*files, *links]))


def file_content(path: Path) -> bytes:
    """Return the SHA-256 of a file's content; of a link, which may lead out of an image, that of where it leads."""
    if path.is_symlink():
        return sha256(str(path.readlink()).encode("utf-8", "surrogateescape")).digest()
    total = sha256()
    with path.open("rb") as file:
        while block := file.read(_BLOCK):
            total.update(block)
    return total.digest()
