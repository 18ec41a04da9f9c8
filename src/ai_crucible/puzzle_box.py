"""The box for an attempt at a puzzle: its limits, its root, and every answer nearby out of sight."""

from __future__ import annotations

from pathlib import Path

from pydantic import Field

from ai_crucible.box import Box, BoxLimits
from ai_crucible.box.bwrap import open_box
from ai_crucible.box.root import Root
from ai_crucible.types import Puzzle


class BoxOrder(BoxLimits):
    """What a box is opened with. Paths of this machine stay out of logs.

    Args:
        hidden: host folders that must not be seen inside.
        root: an unpacked image; the host's own programs where left out.
    """

    hidden: tuple[Path, ...] = Field(default=(), exclude=True)
    root: Path | None = Field(default=None, exclude=True)

    async def open(self) -> Box:
        """Open the box.

        Raises:
            CannotIsolate, ConfigurationError: as :func:`~ai_crucible.box.bwrap.open_box`.
        """
        return await open_box(self, hidden=self.hidden, root=Root(self.root))


def order_of(puzzle: Puzzle, root: Root | None = None) -> BoxOrder:
    """Return the order for a puzzle's boxes: the puzzle itself and its neighbours are hidden, wherever they lie."""
    folder = Path(puzzle.folder)
    beside = sorted(folder.parent.iterdir()) if folder.parent.is_dir() else []
    hidden = (folder, *(path for path in beside if (path / "meta.json").exists()))
    return BoxOrder(**puzzle.meta.limits.model_dump(), hidden=hidden, root=root.folder if root else None)
