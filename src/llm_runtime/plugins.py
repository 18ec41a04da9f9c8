"""What installed packages add, by group of entry points: found when asked for, loaded when used."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from pkgutil import resolve_name
from typing import Any

from llm_runtime.errors import ConfigurationError

FOREIGN = (Exception, SystemExit)
"""Whatever somebody else's code raises, which must not stop ours."""


def found(group: str, ours: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return ``"module:attribute"`` by name: of ours, then of what others installed under names that are free."""
    own = ours or {}
    return {**own, **{name: place for name, place in _installed(group, tuple(sys.path)).items() if name not in own}}


def load(group: str, name: str, ours: Mapping[str, str] | None = None) -> Any:
    """Load what an entry point names.

    Raises:
        ConfigurationError: there is none of that name, or it cannot be loaded.
    """
    places = found(group, ours)
    if name not in places:
        raise ConfigurationError(f"{group} has no {name[:60]}; there are: {', '.join(places)}")
    try:
        return resolve_name(places[name])
    except FOREIGN as fault:
        raise ConfigurationError(unloadable(places[name], fault)) from None


def unloadable(place: str, fault: BaseException) -> str:
    """Return in one line that what stands at a place cannot be loaded, and why."""
    return f"{place} cannot be loaded: {type(fault).__name__}: {' '.join(str(fault).split())}"


@cache
def _installed(group: str, path: tuple[str, ...]) -> dict[str, str]:
    # To load what reads all of them doubles the time of --help.
    if f"[{group}]".encode() not in _offered(path):
        return {}
    from importlib.metadata import entry_points

    return {point.name: point.value for point in sorted(entry_points(group=group), key=lambda one: one.name)}


@cache
def _offered(path: tuple[str, ...]) -> bytes:
    """Return the entry points of all packages in these folders, as they are written."""
    files = (file for folder in path for file in Path(folder).glob("*-info/entry_points.txt"))
    return b"\n".join(file.read_bytes() for file in files)
