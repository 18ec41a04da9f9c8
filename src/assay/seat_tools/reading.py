"""Files under one folder, for models: nothing outside it, nothing hidden, no links, text alone."""

from __future__ import annotations

import asyncio
import os
import stat
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from assay.seat_tools.offered import Call, word
from llm_runtime.errors import ConfigurationError

_LINES, _ENTRIES, _HITS = 400, 500, 40
_MOST = 1 << 20
_LONGEST = 400


class Folder:
    """A folder that may be read.

    Args:
        root: the folder.

    Raises:
        ConfigurationError: there is none.
    """

    def __init__(self, root: Path) -> None:
        self._root = root.expanduser().resolve()
        if not self._root.is_dir():
            raise ConfigurationError(f"--tools files:{root}: there is no such folder")

    def read(self, path: str, first: Any = 1) -> str:
        """Return lines of a file with their numbers, or the names in a folder.

        Raises:
            OSError: it cannot be read, or not from here.
        """
        place = self._inside(path)
        if place.is_dir():
            names = sorted(one.name + ("/" if one.is_dir() else "") for one in self._shown(place))
            return "\n".join(names[:_ENTRIES]) or "(nothing)"
        return numbered(_text(place).splitlines(), first)

    def search(self, words: str) -> str:
        """Return the lines that hold all the words, each with its file and number."""
        wanted, hits = words.casefold().split(), list[str]()
        for place in self._files(self._root):
            try:
                lines = _text(place).splitlines()
            except OSError:
                continue
            name = place.relative_to(self._root)
            for number, line in enumerate(lines, 1):
                if all(word in line.casefold() for word in wanted):
                    hits.append(f"{name}:{number}: {line.strip()[:_LONGEST]}")
                    if len(hits) == _HITS:
                        return "\n".join([*hits, "[there are more; use rarer words]"])
        return "\n".join(hits) or "(no line holds all of them)"

    def _inside(self, path: str) -> Path:
        if "\x00" in path or any(part.startswith(".") for part in Path(path).parts):
            raise PermissionError(f"{path[:80]!r} cannot be read from here")
        place = self._root / path
        # A link may lead anywhere, and a resolved path shows whether there was one.
        if place.resolve() != place or not place.is_relative_to(self._root):
            raise PermissionError(f"{path[:80]!r} cannot be read from here")
        if not place.exists():
            raise FileNotFoundError(f"there is no {path[:80]!r}")
        return place

    def _shown(self, folder: Path) -> list[Path]:
        return [one for one in folder.iterdir() if not one.name.startswith(".") and not one.is_symlink()]

    def _files(self, folder: Path) -> Iterator[Path]:
        for one in sorted(self._shown(folder)):
            if one.is_dir():
                yield from self._files(one)
            else:
                yield one


def numbered(lines: Sequence[str], first: Any = 1) -> str:
    """Return lines with their numbers from the ``first`` on, and how many are left."""
    start = first if isinstance(first, int) and 1 <= first <= len(lines) else 1
    shown = [f"{number}| {lines[number - 1]}" for number in range(start, min(start + _LINES, len(lines) + 1))]
    left = len(lines) - start - len(shown) + 1
    return "\n".join([*shown, *([f"[{left} more lines from {start + len(shown)}]"] if left else [])])


def _text(place: Path) -> str:
    descriptor = os.open(place, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise PermissionError(f"{place.name!r} is no file")
        data = file.read(_MOST + 1)
    if len(data) > _MOST or b"\x00" in data:
        raise OSError(f"{place.name!r} is no text, or has more than {_MOST:,} bytes")
    return data.decode("utf-8", "replace")


def files(detail: str, _: Sequence[str]) -> Call:
    """Return what reads the files of a folder, and lists it."""
    folder = Folder(Path(detail))

    async def read(arguments: Mapping[str, Any]) -> str:
        return await asyncio.to_thread(folder.read, word(arguments, "path"), arguments.get("first", 1))

    return read


def search(_: str, names: Sequence[str]) -> Call:
    """Return what searches the folder that another tool names."""
    folder = Folder(Path(next(name.partition(":")[2] for name in names if name.startswith("files:"))))

    async def find(arguments: Mapping[str, Any]) -> str:
        return await asyncio.to_thread(folder.search, word(arguments, "words"))

    return find
