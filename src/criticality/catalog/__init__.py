"""Smells and patterns of Mass Defect, as data: one TOML file each."""

from __future__ import annotations

import tomllib
from collections.abc import Container, Sequence
from functools import cache
from importlib import resources
from typing import Any

from llm_runtime.structs import Struct

#: What each risk asks for before a transformation is accepted.
SCOPES: dict[int, str] = {
    1: "compile_only", 2: "unit_tests:target_function", 3: "integration_tests:module", 4: "full_test_suite",
}  # fmt: skip


class SmellDefinition(Struct):
    """A smell: above ``threshold`` it is one; ``applicable`` are the patterns that it may call for."""

    category: str
    threshold: float
    applicable: tuple[str, ...]


class Example(Struct):
    """Code before a transformation and after it."""

    before: str
    after: str


class PatternDefinition(Struct):
    """A transformation, and what it makes possible; its guards stand in the template."""

    id: str
    risk: int
    enables: tuple[str, ...]
    declares: bool
    template: str

    def prompt(self, example: Example) -> str:
        """Return the instructions, with an example in the language of the code."""
        return self.template.replace("{{ example }}", f"BEFORE:\n{example.before}\n\nAFTER:\n{example.after}")


class DetectedSmell(Struct):
    """A smell in a function; ``severity`` is how far its threshold is exceeded."""

    smell_id: str
    function: str
    severity: float


class TransformationType(Struct):
    """A pattern to try on a function, for a smell."""

    pattern_id: str
    smell: str
    risk: int


@cache
def smells() -> dict[str, SmellDefinition]:
    """Return every smell by id, in alphabetical order."""
    return {
        data["smell"]["id"]: SmellDefinition(
            data["smell"]["category"],
            next(float(value) for value in data["detection"].values() if isinstance(value, int | float)),
            tuple(one["pattern"] for one in data["applicable_patterns"]),
        )
        for data in _files("smells")
    }


@cache
def patterns() -> dict[str, PatternDefinition]:
    """Return every pattern by id, in alphabetical order."""
    return {
        one["id"]: PatternDefinition(
            one["id"], one["risk"], tuple(data["enables"]["patterns"]), one["declares"],
            data["prompt"]["template"].strip(),
        )
        for data in _files("patterns")
        for one in (data["pattern"],)
    }  # fmt: skip


def select_patterns(
    detected: Sequence[DetectedSmell], attempted: Container[str], examples: Container[str]
) -> list[TransformationType]:
    """Return the patterns to attempt on one function: lowest risk first, then those that enable most; each once.

    Args:
        examples: ids of the patterns that the language has an example of; no other is tried.
    """
    best: dict[str, DetectedSmell] = {}
    for smell in detected:
        for name in smells()[smell.smell_id].applicable:
            wanted = name in examples and name not in attempted
            if wanted and (name not in best or smell.severity > best[name].severity):
                best[name] = smell
    chosen = [TransformationType(name, smell.smell_id, patterns()[name].risk) for name, smell in best.items()]
    return sorted(chosen, key=lambda t: (t.risk, -len(patterns()[t.pattern_id].enables)))


def _files(folder: str) -> list[dict[str, Any]]:
    where = resources.files("criticality.catalog").joinpath(folder)
    paths = sorted((path for path in where.iterdir() if path.name.endswith(".toml")), key=lambda path: path.name)
    return [tomllib.loads(path.read_text(encoding="utf-8")) for path in paths]
