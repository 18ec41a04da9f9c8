"""The registry of target languages: where each adapter stands, ours by name and others by entry point.

A language is one folder with a function ``adapter() -> Language``. A distribution of its own adds one by an entry
point of the group ``criticality.languages``, such as ``zig = "criticality_zig.adapter:adapter"``.
"""

from __future__ import annotations

from pathlib import Path
from pkgutil import resolve_name

from criticality.language import Language
from criticality.standing import Adopter
from llm_runtime.errors import ConfigurationError
from llm_runtime.plugins import found

GROUP = "criticality.languages"
_OURS = {
    name: f"criticality.languages.{name}.adapter:adapter"
    for name in ("python", "typescript", "rust", "go", "java", "cpp")
}

_ADOPTERS = tuple(f"criticality.languages.{name}.adopting.serving:adopter" for name in ("python", "typescript"))


def languages() -> tuple[str, ...]:
    """Return the name of every language that can be asked for: ours, then those that were installed besides."""
    return tuple(found(GROUP, _OURS))


def language(name: str) -> Language:
    """Return the language of that name, imported now.

    Raises:
        ConfigurationError: there is no such language.
    """
    place = found(GROUP, _OURS).get(name)
    if place is None:
        raise ConfigurationError(f"there is no language {name!r}; there are: {', '.join(languages())}")
    adapter: Language = resolve_name(place)()
    return adapter


def adopter(path: Path) -> Adopter:
    """Return what adopts functions of a folder or a file; Python's says what is wrong with all others."""
    adopters: list[Adopter] = [resolve_name(place) for place in _ADOPTERS]
    return next((one for one in adopters if one.takes(path)), adopters[0])


def require_toolchain(language: Language) -> None:
    """Say in one line what is missing, and how to get it.

    Raises:
        ConfigurationError: a tool that is needed is not here.
    """
    missing = [fact for fact in language.facts() if fact.needed and fact.version is None]
    if missing:
        ways = "; ".join(dict.fromkeys(fact.get for fact in missing))
        names = ", ".join(fact.name for fact in missing)
        raise ConfigurationError(f"{language.title} needs what is not here: {names}; {ways} (see: criticality doctor)")
