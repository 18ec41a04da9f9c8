"""The project files that a person keeps: manifests with pinned versions, settings of compiler and linter."""

from __future__ import annotations

import json
from functools import lru_cache
from importlib import resources
from xml.sax.saxutils import escape

_FILES = {
    "typescript": ("package.json", "tsconfig.json", "vitest.config.ts", "eslint.config.js"),
    "rust": ("Cargo.toml",),
    "go": ("go.mod", "go.sum"),
    "java": ("pom.xml", "src/test/resources/junit-platform.properties"),
    "cpp": ("CMakeLists.txt",),
}


def project_files(language: str, name: str, description: str) -> dict[str, str]:
    """The project files of a language, by their paths.

    Args:
        name: of the package, in lower case with underscores.
        description: one sentence.
    """
    plain = " ".join(description.split())
    return {
        path: _template(language, path)
        .replace("{{ name }}", name)
        .replace("{{ description }}", _quoted(path, plain))
        for path in _FILES[language]
    }


def _quoted(path: str, text: str) -> str:
    if path.endswith(".xml"):
        return escape(text)
    if path.endswith((".json", ".toml")):
        return json.dumps(text, ensure_ascii=False)[1:-1]
    return text


@lru_cache(maxsize=16)
def _template(language: str, path: str) -> str:
    return resources.files("criticality.toolchains").joinpath("projects", language, path).read_text("utf-8")
