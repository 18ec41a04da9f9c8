"""The box for an attempt at a puzzle: its limits, its root and packages, and every answer nearby out of sight."""

from __future__ import annotations

from pathlib import Path

from pydantic import Field

from ai_crucible.box import Box, BoxLimits
from ai_crucible.box.bwrap import open_box
from ai_crucible.box.packages import with_packages
from ai_crucible.box.root import Root
from ai_crucible.types import Puzzle


class BoxOrder(BoxLimits):
    """What a box is opened with. Paths of this machine stay out of logs.

    Args:
        hidden: host folders that must not be seen inside.
        root: what the box is made of: an image or the host's own programs, and the task's packages.
    """

    hidden: tuple[Path, ...] = Field(default=(), exclude=True)
    root: Root = Field(default=Root(), exclude=True)

    async def open(self) -> Box:
        """Open the box.

        Raises:
            CannotIsolate, ConfigurationError: as :func:`~ai_crucible.box.bwrap.open_box`.
        """
        return await open_box(self, hidden=self.hidden, root=self.root)


def order_of(puzzle: Puzzle, root: Root | None = None) -> BoxOrder:
    """Return the order for a puzzle's boxes: the puzzle itself and its neighbours are hidden, wherever they lie.

    Raises:
        ConfigurationError: the packages of its lock cannot be installed.
    """
    root = with_packages(root or Root(), puzzle.lock, puzzle.meta.id)
    folder = Path(puzzle.folder)
    beside = sorted(folder.parent.iterdir()) if folder.parent.is_dir() else []
    hidden = (folder, *(path for path in beside if (path / "meta.json").exists()))
    return BoxOrder(**puzzle.meta.limits.model_dump(), hidden=hidden, root=root)
