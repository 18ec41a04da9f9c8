"""What a box is made of: the host's programs or an image, and a task's packages; and the digests that name it."""

from __future__ import annotations

import hashlib
import os
import re
import stat
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal, TypeAlias

from sandbox.errors import BadRoot
from sandbox.image import is_image, unpacked
from sandbox.made_once import content_digest, file_content, files_of
from sandbox.small import small_root

HOST = "host"
_HOST = Path("/usr")
# Of the host no more than programs and libraries: what an administrator or a user installs, /usr/local and /usr/src
# among it, may hold puzzles and their answers.
_HOST_PARTS = ("bin", "sbin", "lib", "lib32", "lib64", "libx32", "libexec", "share")
_LINKS = ("bin", "sbin", "lib", "lib32", "lib64", "libx32")
# Made anew in every box.
_OWN = ("dev", "home", "oracle", "proc", "root", "run", "sys", "tmp", "boot", "mnt", "media", "var")
_ALTERNATIVES = Path("/etc/alternatives")
_PACKAGES = Path("/var/lib/dpkg/status")


#: A ``folder`` that is read where it is shown, a ``link`` and what it says, or an ``empty`` folder; and its place.
Mount: TypeAlias = tuple[Literal["folder", "link", "empty"], str, str]


@dataclass(frozen=True, slots=True)
class Root:
    """A read-only root.

    Args:
        folder: an unpacked image; the host's own programs and libraries where left out.
        packages: a folder of installed packages, mounted in place of any others. Without it the host's are not
            seen at all, so that a task means the same everywhere; an image's are.
        image: the digest of the OCI image that the folder was unpacked from.
        whole: all that the host has below ``/usr``, and no folder: for compilers, which stand anywhere.
    """

    folder: Path | None = None
    packages: Path | None = None
    image: str = ""
    whole: bool = False

    @classmethod
    def at(cls, place: str | Path | None) -> Root:
        """Return the root in a folder or an image, all programs of this machine for ``host``, or a small root of them.

        Raises:
            BadRoot: there is none, it cannot be unpacked or made, or there is no Python in it.
        """
        if not place and sys.platform == "linux" and not os.environ.get("ASSAY_SANDBOX_IMAGE"):
            return cls(small_root())
        if not place or place == HOST:
            return cls()
        path, image = Path(place).resolve(), ""
        if is_image(path):
            path, image = unpacked(path)
        if not (path / "usr/bin").is_dir():
            raise BadRoot(f"{place}: no root of a box; it needs usr/bin, as an unpacked image has")
        root = cls(path, None, image)
        if not _within(path, root.python.lstrip("/")):
            raise BadRoot(f"{place}: no Python there; every box needs python3 in /usr/local/bin or /usr/bin")
        return root

    @property
    def python(self) -> str:
        """The interpreter inside."""
        own = self.folder is not None and _within(self.folder, "usr/local/bin/python3")
        return "/usr/local/bin/python3" if own else "/usr/bin/python3"

    @property
    def isolated(self) -> list[str]:
        """How the interpreter is started: packages are looked for where the task has brought its own, or its image."""
        return ["python3", "-I", *(() if self.packages or self.image else ("-S",))]

    @property
    def python_version(self) -> str:
        """The interpreter's version, such as ``3.12``; empty where there is none."""
        program = _within(self._base, self.python.lstrip("/"))
        named = re.fullmatch(r"python(3\.\d+)", program.name) if program else None
        return named[1] if named else ""

    @property
    def _base(self) -> Path:
        return self.folder or Path("/")

    def package_places(self) -> list[Path]:
        """Return the folders inside in which the interpreter looks for packages."""
        home = Path(self.python).parents[1]
        names = [f"lib/python{self.python_version}/{kind}-packages" for kind in ("site", "dist")]
        places = [home / name for name in ("lib/python3/dist-packages", *names, names[0].replace("lib", "lib64", 1))]
        real = {(self._base / place.relative_to("/")).resolve(): place for place in places}
        return [place for path, place in real.items() if path.is_dir()]

    def modules(self) -> list[str]:
        """Return the names under which the task's packages are imported."""
        names = {path.name.split(".")[0] for path in self.packages.iterdir()} if self.packages else set[str]()
        return sorted(name for name in names if name.isidentifier())

    def mounts(self, hidden: Iterable[Path] = ()) -> list[Mount]:
        """Return what the root is made of, in order.

        Args:
            hidden: host folders that must not be seen: covered where they lie below what is mounted.

        Raises:
            BadRoot: one of them holds what the box is made of.
        """
        parts = self._parts()
        mounts: list[Mount] = [_shown(source, target) for source, target in parts]
        if self.folder is None:
            for link in _LINKS:
                if (_HOST / link).exists():
                    mounts.append(("link", f"usr/{link}", f"/{link}"))
            # Debian names many programs by links through here.
            if _ALTERNATIVES.is_dir():
                mounts.append(("folder", str(_ALTERNATIVES), str(_ALTERNATIVES)))
        for folder in dict.fromkeys(path.resolve() for path in hidden):
            for source, target in parts:
                if source.is_relative_to(folder):
                    raise BadRoot(f"{folder} cannot be hidden from a box: {source} lies in it; move it")
                if folder.is_relative_to(source):
                    place = str(target / folder.relative_to(source))
                    mounts.append(("empty", "", place))
            # A small root has copies of the host's folders.
            if self.folder is not None and (self.folder / folder.relative_to("/")).is_dir():
                mounts.append(("empty", "", str(folder)))
        for place in map(str, self.package_places() if not self.whole else ()):
            if self.packages:
                mounts.append(("folder", str(self.packages), place))
            elif self.folder is None:
                mounts.append(("empty", "", place))
        return mounts

    def _parts(self) -> list[tuple[Path, Path]]:
        """Return host paths, each with its place in the box."""
        if self.whole:
            return [(_HOST, _HOST)]
        if self.folder is None:
            return [(_HOST / part, _HOST / part) for part in _HOST_PARTS if (_HOST / part).exists()]
        return [(entry, Path("/") / entry.name) for entry in sorted(self.folder.iterdir()) if entry.name not in _OWN]

    def digest(self) -> str:
        """Return SHA-256 of the root: of a folder its names and contents, of the host its packages and programs."""
        return content_digest(self.folder) if self.folder else _host_digest()

    def interpreter(self) -> str:
        """Return SHA-256 over the interpreter and its standard library."""
        return _interpreter_digest(self._base, self.python)


def _shown(source: Path, target: Path) -> Mount:
    if source.is_symlink():
        return "link", str(source.readlink()), str(target)
    return "folder", str(source), str(target)


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
    total.update(file_content(program))
    library = (root / python.lstrip("/")).parents[1] / "lib" / program.name
    if library.is_dir():
        for path in files_of(library):
            if path.suffix in (".py", ".so") and not {"dist-packages", "site-packages"} & set(path.parts):
                total.update(f"{path.relative_to(library)}\0".encode("utf-8", "surrogateescape") + file_content(path))
    return total.hexdigest()


@cache
def _host_digest() -> str:
    total = hashlib.sha256()
    if _PACKAGES.is_file():
        total.update(file_content(_PACKAGES))
    for path in sorted((_HOST / "bin").iterdir()):
        status = path.lstat()
        total.update(f"{path.name}\0{status.st_size}\0{stat.S_IFMT(status.st_mode)}\n".encode("utf-8", "replace"))
    return total.hexdigest()
