"""A source tree on disk that follows one in memory; what did not change is not touched, nor built anew."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path


class WorkCopy:
    """The files of one folder.

    Args:
        folder: made where it is not there.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._there: dict[str, str] = {}
        folder.mkdir(parents=True, exist_ok=True)

    def follow(self, tree: Mapping[str, str]) -> set[str]:
        """Write what differs and remove what went; the paths of both."""
        gone = self._there.keys() - tree.keys()
        changed = {path for path, text in tree.items() if self._there.get(path) != text}
        for path in gone:
            (self.folder / path).unlink(missing_ok=True)
        for path in changed:
            target = self.folder / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(tree[path], "utf-8")
        self._there = dict(tree)
        return gone | changed
