"""The box for an attempt at a puzzle: its limits, its root and packages, and every answer nearby out of sight."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from pydantic import Field

import sandbox
from ai_crucible.types import Puzzle
from llm_runtime.errors import ConfigurationError
from sandbox import HOST, Box, BoxLimits, Root
from sandbox.packages import with_packages

ORACLE, PIPES = "/oracle", "/pipe"
# It holds puzzles with their oracles, and may be installed below /usr, of which every box can read a part.
_PACKAGE = Path(__file__).resolve().parent


class CannotIsolate(ConfigurationError):
    """This machine gives no box that isolates; nothing was run."""


@contextmanager
def told() -> Generator[None]:
    """Tell what goes wrong with a sandbox as what a person can cause."""
    try:
        yield
    except sandbox.NoIsolation as fault:
        raise CannotIsolate(str(fault)) from None
    except sandbox.BadRoot as fault:
        raise ConfigurationError(str(fault)) from None


async def open_box(
    limits: BoxLimits | None = None, *, oracle: Path | None = None, hidden: Sequence[Path] = (),
    root: Root | None = None, shared: Mapping[str, Path] | None = None,
) -> Box:  # fmt: skip
    """Start a box. The caller closes it.

    Args:
        limits: what it may use.
        oracle: the folder to mount at ``/oracle``: for grading only; such a box runs nothing a solver wrote.
        hidden: folders that must not be seen inside.
        root: what it is made of; a small root of the host's programs where left out.
        shared: host files and folders that it reads, by their place.

    Raises:
        CannotIsolate: nothing here isolates; the message carries the reason.
        ConfigurationError: a hidden folder holds what the box is made of.
    """
    with told():
        mounts = {ORACLE: oracle} if oracle else {}
        return await sandbox.open_box(
            limits, root=root or root_at(""), mounts=mounts, shared=shared, hidden=[*hidden, _PACKAGE]
        )


async def probe(root: Root | None = None) -> None:
    """Open a box and look around in it, once for each process and root.

    Raises:
        CannotIsolate: something of the host can be seen, reached or changed from inside; says what.
    """
    with told():
        await sandbox.probe(root or root_at(""))


@told()
def root_at(place: str | Path | None, *, whole: bool = False) -> Root:
    """Return the root in a folder or an image, all programs of this machine for ``host``, or a small root of them.

    Args:
        place: the folder or image, ``host``, or nothing.
        whole: nothing means ``host``.

    Raises:
        ConfigurationError: there is none, it cannot be unpacked or made, or there is no Python in it.
    """
    return Root.at(place or (HOST if whole else ""))


@told()
def isolating() -> tuple[str, Path]:
    """Return the name and the program of what isolates here.

    Raises:
        CannotIsolate: there is none.
    """
    chosen = sandbox.backend()
    return chosen.name, chosen.program()


class BoxOrder(BoxLimits):
    """What a box is opened with. Paths of this machine stay out of logs.

    Args:
        hidden: host folders that must not be seen inside.
        root: what the box is made of: an image or the host's own programs, and the task's packages.
    """

    hidden: tuple[Path, ...] = Field(default=(), exclude=True)
    root: Root = Field(default=Root(), exclude=True)

    async def open(self, pipes: Path | None = None) -> Box:
        """Open the box, with a folder of pipes where one is named.

        Raises:
            CannotIsolate, ConfigurationError: as :func:`open_box`.
        """
        return await open_box(self, hidden=self.hidden, root=self.root, shared={PIPES: pipes} if pipes else None)


@told()
def order_of(puzzle: Puzzle, root: Root | None = None) -> BoxOrder:
    """Return the order for a puzzle's boxes: the puzzle itself and its neighbours are hidden, wherever they lie.

    Raises:
        ConfigurationError: the packages of its lock cannot be installed.
    """
    root = with_packages(puzzle.image or root or root_at(""), puzzle.lock, puzzle.meta.id)
    folder = Path(puzzle.folder)
    beside = sorted(folder.parent.iterdir()) if folder.parent.is_dir() else []
    hidden = (folder, *(path for path in beside if (path / "meta.json").exists()))
    return BoxOrder(**puzzle.meta.limits.model_dump(), hidden=hidden, root=root)
