"""Which folders the names of puzzles mean: the built-in ones by id, others by path."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from llm_runtime.errors import ConfigurationError

BUILT_IN = Path(__file__).parent / "puzzles"


def built_in_ids() -> list[str]:
    """Return the ids of the puzzles that come with this package, sorted."""
    return sorted(folder.name for folder in BUILT_IN.iterdir() if (folder / "meta.json").exists())


def resolve_puzzles(names: Sequence[str]) -> list[Path]:
    """Return the folders of puzzles.

    Args:
        names: ``all`` for the built-in ones, an id of one, or a path to a puzzle or a folder of puzzles.

    Raises:
        ConfigurationError: a name means nothing.
    """
    known = set(built_in_ids())
    folders: list[Path] = []
    for name in names:
        if name == "all":
            folders += [BUILT_IN / each for each in sorted(known)]
        elif name in known:
            folders.append(BUILT_IN / name)
        elif Path(name).is_dir():
            folders.append(Path(name))
        else:
            raise ConfigurationError(f"no puzzle {name!r}: give an id (ai-crucible catalog list) or a folder")
    if not folders:
        raise ConfigurationError("no puzzle was named; use all, an id, or a folder")
    return folders
