"""The glossary: what words, headings and figures mean, as data."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from functools import cache
from importlib import resources

_NUMBERED = re.compile(r" \d+\b.*")


@cache
def glossary() -> Mapping[str, Mapping[str, str]]:
    """Return meanings by word: ``"words"`` of Assay's own, and ``"reports"``, headings and figures."""
    return tomllib.loads(resources.files(__package__ or "").joinpath("glossary.toml").read_text(encoding="utf-8"))


def meaning(term: str) -> str:
    """Return what a heading or figure of a report means; empty where nobody wrote it down."""
    reports = glossary()["reports"]
    return reports.get(term) or reports.get(_NUMBERED.sub("", term), "")
