"""Which family a model is of: a registry with aliases, so that no model judges its kin under another name."""

from __future__ import annotations

import re
import tomllib
import unicodedata
from importlib import resources

_KNOWN = tomllib.loads(resources.files(__package__ or "").joinpath("families.toml").read_text(encoding="utf-8"))
#: A family and the words that give it away. What comes first wins; distilled and merged models name two.
FAMILIES: dict[str, list[str]] = _KNOWN["families"]
_HOSTS = frozenset[str](_KNOWN["hosts"])


def families_of(model: str) -> frozenset[str]:
    """Return every family that a model's name gives away; empty for a name that tells none.

    >>> sorted(families_of("openrouter/anthropic/claude-sonnet-4"))
    ['claude']
    >>> sorted(families_of("deepseek/deepseek-r1-distill-llama-70b"))
    ['deepseek', 'llama']
    """
    plain = unicodedata.normalize("NFKC", model).casefold().strip()
    families: set[str] = set()
    parts = plain.split("/")
    for place, part in enumerate(parts):
        host, _, served = part.partition(":")
        part = served if host in _HOSTS else part
        if part in _HOSTS or (place == 0 and len(parts) > 2 and part in ("openai", "anthropic", "google")):
            continue
        words = re.findall(r"[a-z]+|[a-z]?\d+[a-z]*", part) + re.findall(r"[a-z0-9]+", part)
        for family, names in FAMILIES.items():
            if any(word in names for word in words) or any(len(n) >= 5 and n in part for n in names):
                families.add(family)
    return frozenset(families)
