"""Smells and patterns of Mass Defect, as data: one TOML file each."""

from __future__ import annotations

import tomllib
from collections.abc import Container, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

#: What each risk asks for before a transformation is accepted.
SCOPES: dict[int, str] = {
    1: "compile_only", 2: "unit_tests:target_function", 3: "integration_tests:module", 4: "full_test_suite",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class PatternReference:
    """A pattern that a smell may call for."""

    pattern_id: str
    risk: int
    rationale: str


@dataclass(frozen=True, slots=True)
class SmellDefinition:
    """A smell: ``threshold`` is the number above which it is one."""

    id: str
    category: str
    threshold: float
    applicable: tuple[PatternReference, ...]


@dataclass(frozen=True, slots=True)
class Example:
    """Code before a transformation and after it."""

    before: str
    after: str


@dataclass(frozen=True, slots=True)
class PatternDefinition:
    """A transformation, its guards in words, and what it makes possible."""

    id: str
    risk: int
    guards: tuple[str, ...]
    enables: tuple[str, ...]
    declares: bool
    template: str

    def prompt(self, example: Example) -> str:
        """Return the instructions, with an example in the language of the code."""
        shown = f"BEFORE:\n{example.before}\n\nAFTER:\n{example.after}"
        return self.template.replace("{{ example }}", shown)


@dataclass(frozen=True, slots=True)
class DetectedSmell:
    """A smell in a function; ``severity`` is how far its threshold is exceeded."""

    smell_id: str
    function: str
    severity: float


@dataclass(frozen=True, slots=True)
class TransformationType:
    """A pattern to try on a function, for a smell."""

    pattern_id: str
    smell: str
    risk: int


@cache
def smells() -> dict[str, SmellDefinition]:
    """Return every smell by id, in alphabetical order."""
    return {data["smell"]["id"]: _smell(data) for data in _files("smells")}


@cache
def patterns() -> dict[str, PatternDefinition]:
    """Return every pattern by id, in alphabetical order."""
    return {data["pattern"]["id"]: _pattern(data) for data in _files("patterns")}


def select_patterns(
    detected: Sequence[DetectedSmell], attempted: Container[str], examples: Container[str]
) -> list[TransformationType]:
    """Return the patterns to attempt on one function: lowest risk first, then those that enable most; each once.

    Args:
        examples: ids of the patterns that the language has an example of; no other is tried.
    """
    best: dict[str, tuple[float, TransformationType]] = {}
    for smell in detected:
        for reference in smells()[smell.smell_id].applicable:
            pattern = patterns()[reference.pattern_id]
            if reference.pattern_id in attempted or pattern.id not in examples:
                continue
            old = best.get(pattern.id)
            if old is None or smell.severity > old[0]:
                candidate = TransformationType(pattern.id, smell.smell_id, reference.risk)
                best[pattern.id] = (smell.severity, candidate)
    chosen = [transformation for _, transformation in best.values()]
    return sorted(chosen, key=lambda t: (t.risk, -len(patterns()[t.pattern_id].enables)))


def _files(folder: str) -> list[dict[str, Any]]:
    where = resources.files("criticality.catalog").joinpath(folder)
    paths = sorted((path for path in where.iterdir() if path.name.endswith(".toml")), key=lambda path: path.name)
    return [tomllib.loads(path.read_text(encoding="utf-8")) for path in paths]


def _smell(data: dict[str, Any]) -> SmellDefinition:
    detection = data["detection"]
    threshold = next(value for value in detection.values() if isinstance(value, int | float))
    return SmellDefinition(
        id=data["smell"]["id"],
        category=data["smell"]["category"],
        threshold=float(threshold),
        applicable=tuple(
            PatternReference(p["pattern"], p["risk"], p["rationale"]) for p in data["applicable_patterns"]
        ),
    )


def _pattern(data: dict[str, Any]) -> PatternDefinition:
    pattern = data["pattern"]
    return PatternDefinition(
        id=pattern["id"],
        risk=pattern["risk"],
        guards=tuple(data["guards"]["conditions"]),
        enables=tuple(data["enables"]["patterns"]),
        declares=pattern["declares"],
        template=data["prompt"]["template"].strip(),
    )
