"""A puzzle's folder, written: its files, and checks that run whole test files."""

from __future__ import annotations

import ast
import json
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from llm_runtime.errors import ConfigurationError

MOST_BYTES = 1024 * 1024
PuzzleFiles: TypeAlias = "dict[str, str | bytes]"
"""By path within a puzzle's folder."""


def write_puzzle(folder: Path, files: Mapping[str, str | bytes]) -> None:
    """Write a whole puzzle folder, or nothing: into a draft beside it that is renamed at the end.

    Raises:
        ConfigurationError: the folder exists.
    """
    if folder.exists():
        raise ConfigurationError(f"{folder} exists; choose another name")
    folder.parent.mkdir(parents=True, exist_ok=True)
    draft = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", dir=folder.parent))
    try:
        for name, content in files.items():
            path = draft / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content if isinstance(content, bytes) else content.encode())
        draft.chmod(0o755)
        draft.rename(folder)
    except BaseException:
        shutil.rmtree(draft, ignore_errors=True)
        raise


def read_text(path: Path) -> str:
    """Read a small text file.

    Raises:
        OSError: it cannot be read.
        ValueError: it is a link, larger than 1 MiB, or not UTF-8.
    """
    if path.is_symlink() or path.stat().st_size > MOST_BYTES:
        raise ValueError(path)
    return path.read_text(encoding="utf-8")


def why_unreadable(fault: Exception) -> str:
    """Return why a task makes no puzzle."""
    why = f"{fault.filename}: {fault.strerror}" if isinstance(fault, OSError) else type(fault).__name__
    return f"it cannot be read: {why}"


def as_json(data: object) -> str:
    """Return the text of a puzzle's JSON file."""
    return json.dumps(data, indent=1) + "\n"


def suite_check(name: str, tests: Sequence[str], files: Sequence[str], seconds: int = 20) -> dict[str, Any]:
    """Return a check that runs tests, ``path.py::test``, of files laid beside the work copy; all must pass."""
    case = {"args": list(tests), "expect": dict.fromkeys(tests, "passed")}
    return {"name": name, "kind": "call", "target": ":tests", "cases": [case], "with": [*files], "seconds": seconds}


def tests_of(path: str, text: str) -> Iterator[str]:
    """Yield the tests of a file, functions and methods, by the names under which they are run."""
    for node in ast.parse(text).body:
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test"):
            yield f"{path}::{node.name}"
        elif isinstance(node, ast.ClassDef):
            for part in node.body:
                if isinstance(part, ast.FunctionDef) and part.name.startswith("test"):
                    yield f"{path}::{node.name}::{part.name}"
