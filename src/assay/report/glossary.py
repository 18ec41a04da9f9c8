"""The glossary: what words, headings and figures mean, as data; a protocol's own stand in its package."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from functools import cache
from importlib import resources

_NUMBERED = re.compile(r" \d+\b.*")


@cache
def glossary(packages: tuple[str, ...] = ()) -> Mapping[str, Mapping[str, str]]:
    """Return meanings by word, in order: ``"words"`` of Assay's own, and ``"reports"``, headings and figures.

    Args:
        packages: that may bring a ``glossary.toml``. Of a word that several have the first one's meaning holds, and
            the house's before all.
    """
    known: dict[str, dict[str, str]] = {"words": {}, "reports": {}}
    files = (resources.files(package).joinpath("glossary.toml") for package in (__package__ or "", *packages))
    for table in (tomllib.loads(file.read_text(encoding="utf-8")) for file in files if file.is_file()):
        known = {part: {**table.get(part, {}), **words} for part, words in known.items()}
    return {part: dict(sorted(words.items(), key=lambda row: row[0].casefold())) for part, words in known.items()}


def meaning(term: str, packages: tuple[str, ...] = ()) -> str:
    """Return what a heading or figure of a report means; empty where nobody wrote it down."""
    reports = glossary(packages)["reports"]
    return reports.get(term) or reports.get(_NUMBERED.sub("", term), "")
