"""What a box is made of: the host's own programs and libraries, or a folder of the user's, and what names it."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from llm_runtime.errors import ConfigurationError

_HOST = Path("/usr")
# Of the host no more than programs and libraries: what an administrator or a user installs, /usr/local and /usr/src
# among it, may hold puzzles and their answers.
_HOST_PARTS = ("bin", "sbin", "lib", "lib32", "lib64", "libx32", "libexec", "share")
_LINKS = ("bin", "sbin", "lib", "lib32", "lib64", "libx32")
# Made anew in every box.
_OWN = ("dev", "home", "oracle", "proc", "root", "run", "sys", "tmp", "boot", "mnt", "media", "var")
_PACKAGES = Path("/var/lib/dpkg/status")
_BLOCK = 1 << 20


@dataclass(frozen=True, slots=True)
class Root:
    """A read-only root.

    Args:
        folder: an unpacked image; the host's own programs and libraries where left out.
    """

    folder: Path | None = None

    @classmethod
    def at(cls, folder: str | Path | None) -> Root:
        """Return the root in a folder, or the host's.

        Raises:
            ConfigurationError: there is no such folder, or no Python in it.
        """
        if not folder:
            return cls()
        path = Path(folder).resolve()
        if not (path / "usr/bin").is_dir():
            raise ConfigurationError(f"{folder}: no root of a box; it needs usr/bin, as an unpacked image has")
        root = cls(path)
        if not _within(path, root.python.lstrip("/")):
            raise ConfigurationError(f"{folder}: no Python there, which every box needs at {root.python}")
        return root

    @property
    def python(self) -> str:
        """The interpreter inside."""
        return "/usr/bin/python3"

    def mounts(self, hidden: Iterable[Path] = ()) -> list[str]:
        """Return bubblewrap's arguments that make the root.

        Args:
            hidden: host folders that must not be seen: covered where they lie below what is mounted.

        Raises:
            ConfigurationError: one of them holds what the box is made of.
        """
        parts, arguments = self._parts(), list[str]()
        for source, target in parts:
            arguments += _bound(source, target)
        if self.folder is None:
            for link in _LINKS:
                if (_HOST / link).exists():
                    arguments += ["--symlink", f"usr/{link}", f"/{link}"]
            # Debian names many programs by links through here.
            arguments += ["--ro-bind-try", "/etc/alternatives", "/etc/alternatives"]
        for folder in dict.fromkeys(path.resolve() for path in hidden):
            for source, target in parts:
                if source.is_relative_to(folder):
                    raise ConfigurationError(f"{folder} cannot be hidden from a box: {source} lies in it; move it")
                if folder.is_relative_to(source):
                    place = str(target / folder.relative_to(source))
                    arguments += ["--tmpfs", place, "--remount-ro", place]
        return arguments

    def _parts(self) -> list[tuple[Path, Path]]:
        """Return host paths, each with its place in the box."""
        if self.folder is None:
            return [(_HOST / part, _HOST / part) for part in _HOST_PARTS if (_HOST / part).exists()]
        entries = sorted(self.folder.iterdir())
        return [(entry, Path("/") / entry.name) for entry in entries if entry.name not in _OWN]

    def digest(self) -> str:
        """Return SHA-256 of the root: of a folder its names and contents, of the host its packages and programs."""
        return _folder_digest(self.folder) if self.folder else _host_digest()

    def interpreter(self) -> str:
        """Return SHA-256 over the interpreter and its standard library."""
        return _interpreter_digest(self.folder or Path("/"), self.python)


def _bound(source: Path, target: Path) -> list[str]:
    if source.is_symlink():
        return ["--symlink", str(source.readlink()), str(target)]
    return ["--ro-bind", str(source), str(target)]


def _within(root: Path, name: str, hops: int = 8) -> Path | None:
    """Return a file of a root, links followed as from inside; ``None`` where there is none."""
    path = root / name
    while path.is_symlink() and hops:
        hops -= 1
        link = path.readlink()
        path = root / str(link).lstrip("/") if link.is_absolute() else path.parent / link
    return path if path.is_file() else None


@cache
def _interpreter_digest(root: Path, python: str) -> str:
    program = _within(root, python.lstrip("/"))
    total = hashlib.sha256()
    if program is None:
        return total.hexdigest()
    total.update(_content(program))
    for library in sorted((root / "usr/lib").glob(program.name)):
        for path in _files(library):
            if path.suffix in (".py", ".so") and not {"dist-packages", "site-packages"} & set(path.parts):
                total.update(f"{path.relative_to(library)}\0".encode("utf-8", "surrogateescape") + _content(path))
    return total.hexdigest()


@cache
def _host_digest() -> str:
    total = hashlib.sha256()
    if _PACKAGES.is_file():
        total.update(_content(_PACKAGES))
    for path in sorted((_HOST / "bin").iterdir()):
        status = path.lstat()
        total.update(f"{path.name}\0{status.st_size}\0{stat.S_IFMT(status.st_mode)}\n".encode("utf-8", "replace"))
    return total.hexdigest()


@cache
def _folder_digest(folder: Path) -> str:
    total = hashlib.sha256()
    for path in _files(folder):
        status = path.lstat()
        total.update(f"{path.relative_to(folder)}\0{status.st_mode:o}\0".encode("utf-8", "surrogateescape"))
        if path.is_symlink():
            total.update(str(path.readlink()).encode("utf-8", "surrogateescape"))
        elif stat.S_ISREG(status.st_mode):
            total.update(_content(path))
    return total.hexdigest()


def _files(folder: Path) -> Iterator[Path]:
    for place, folders, files in os.walk(folder):
        folders.sort()
        yield from (
            Path(place, name) for name in sorted([*files, *(n for n in folders if Path(place, n).is_symlink())])
        )


def _content(path: Path) -> bytes:
    total = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(_BLOCK):
            total.update(block)
    return total.digest()
