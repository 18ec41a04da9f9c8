"""What lies in a project as this tool wrote it: a digest a file, so that what a person changes is seen and kept."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from criticality.canonical import pretty
from criticality.project import files

_RECORD = ".criticality/written.json"
_ARCHIVE = ".criticality/archive/edits"


class Written:
    """The files of a project that people read and change; what is below ``.criticality`` is not among them.

    Args:
        root: the project's folder.
    """

    def __init__(self, root: Path) -> None:
        self._root = root
        self._ours: dict[str, str] = {}
        #: Files that a person changed, with the digest of what was looked at.
        self.theirs: dict[str, str] = {}
        self._saved: str = ""
        #: Whether there is a record; a project of an older version has none, and all that lies in it is ours.
        self.there = False
        with suppress(OSError, ValueError, AttributeError):
            data: dict[str, Any] = json.loads((root / _RECORD).read_text("utf-8"))
            self._ours, self.theirs, self.there = dict(data["ours"]), dict(data["theirs"]), True

    def text(self, path: str) -> str | None:
        """Return what lies there; ``None`` where there is nothing, or nothing that is text."""
        try:
            return (self._root / path).read_bytes().decode("utf-8")
        except (OSError, UnicodeDecodeError):
            return None

    def changed(self) -> Iterator[tuple[str, str]]:
        """Yield each file that a person changed since it was written or looked at, with its text."""
        for path, digest in sorted(self._ours.items()):
            text = self.text(path)
            if text is not None and _digest(text) not in (digest, self.theirs.get(path)):
                yield path, text

    def may_write(self, path: str, text: str) -> bool:
        """Tell whether a file may be written: it is ours, it is not there, or it is that text already."""
        current = self.text(path)
        if current is None:
            return not (self._root / path).exists()
        if current == text:
            return True
        if not self.there:
            self.release(path)
            return True
        return path not in self.theirs and _digest(current) == self._ours.get(path)

    def wrote(self, path: str, text: str) -> None:
        """Note what was written."""
        self._ours[path] = _digest(text)
        self.theirs.pop(path, None)

    def keep(self, path: str, text: str) -> None:
        """Note that a person's text was looked at and stays."""
        self.theirs[path] = _digest(text)

    def release(self, path: str) -> None:
        """Let a file be written again; a copy of it goes into the archive."""
        text = self.text(path)
        if text is not None:
            files.write_project_file(self._root, f"{_ARCHIVE}/{_digest(text)[:12]}-{path.replace('/', '-')}", text)
            self.wrote(path, text)

    def save(self) -> None:
        """Write the record, where something changed."""
        text = pretty({"ours": dict(sorted(self._ours.items())), "theirs": dict(sorted(self.theirs.items()))}) + "\n"
        if text != self._saved:
            files.write_atomic(self._root / _RECORD, text, durable=False)
            self._saved, self.there = text, True


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
