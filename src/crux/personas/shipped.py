"""The two invented authors that come with Crux (CX20; docs/crux-authors.md)."""

from __future__ import annotations

import tomllib
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path

from crux.personas.importing import Gathered, import_corpus
from crux.personas.persona import PersonaError
from crux.personas.store import StoredCorpus


def shipped_authors() -> list[str]:
    """Return their slugs, in order."""
    return sorted(entry.name for entry in _authors().iterdir() if entry.joinpath("manifest.toml").is_file())


def shipped_corpus(author: str) -> StoredCorpus:
    """Read the essays of one.

    Raises:
        PersonaError: there is no such author.
    """
    if author not in shipped_authors():
        raise PersonaError(f"no author called {author} is shipped; there are {', '.join(shipped_authors())}")
    folder = _authors().joinpath(author)
    manifest = tomllib.loads(folder.joinpath("manifest.toml").read_text(encoding="utf-8"))
    with resources.as_file(folder.joinpath("essays")) as essays:
        imported: Gathered = import_corpus(Path(essays))
    return StoredCorpus(name=manifest["name"], aliases=imported.aliases, corpus=imported.corpus)


def _authors() -> Traversable:
    return resources.files("crux").joinpath("authors")
