"""The files of a language's folder: its examples, the texts that its tests stand on, the manifests of a project."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator, Mapping
from functools import cache
from importlib import resources
from importlib.resources.abc import Traversable
from typing import Any
from xml.sax.saxutils import escape

from criticality.catalog import Example

_PLACE = re.compile(r"\{\{ (\w+) \}\}")


@cache
def read_text(package: str, *path: str) -> str:
    """Return the text of a file in a package's folder."""
    return resources.files(package).joinpath(*path).read_text("utf-8")


@cache
def vocabulary(package: str) -> dict[str, Any]:
    """Return a language's names and types by what they are: keywords, names that are taken, scalars."""
    return tomllib.loads(read_text(package, "words.toml"))


def fill(package: str, *path: str, **values: str) -> str:
    """Return the text of a file with a value in the place of each ``{{ name }}``."""
    return _PLACE.sub(lambda place: values[place[1]], read_text(package, *path))


@cache
def examples(package: str) -> Mapping[str, Example]:
    """Return the transformations that a language has an example of, by pattern."""
    told = tomllib.loads(read_text(package, "examples.toml"))
    return {name: Example(code["before"].strip("\n"), code["after"].strip("\n")) for name, code in told.items()}


def project_files(package: str, name: str, description: str) -> dict[str, str]:
    """Return a language's manifests and settings, by their paths: what stands in its folder ``project``.

    Args:
        name: of the package that they describe, in lower case with underscores.
        description: one sentence.
    """
    plain = " ".join(description.split())
    return {
        path: text.replace("{{ name }}", name).replace("{{ description }}", _quoted(path, plain))
        for path, text in texts(package, "project").items()
    }


def texts(package: str, folder: str) -> dict[str, str]:
    """Return every file of a folder by its path below it, in alphabetical order; none where there is no folder."""
    return dict(sorted(_walk(resources.files(package).joinpath(folder), "")))


def _walk(folder: Traversable, prefix: str) -> Iterator[tuple[str, str]]:
    for entry in folder.iterdir() if folder.is_dir() else ():
        if entry.is_dir():
            yield from _walk(entry, f"{prefix}{entry.name}/")
        else:
            yield prefix + entry.name, entry.read_text("utf-8")


def _quoted(path: str, text: str) -> str:
    if path.endswith(".xml"):
        return escape(text)
    if path.endswith((".json", ".toml")):
        # JSON's strings are TOML's, but for the delete character.
        return json.dumps(text, ensure_ascii=False)[1:-1].replace("\x7f", "\\u007f")
    return text
