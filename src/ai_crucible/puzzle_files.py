"""A puzzle's folder, written, and a task with a test suite as one: the one description of all that is imported."""

from __future__ import annotations

import ast
import json
import os
import re
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import field
from pathlib import Path
from typing import Any, TypeAlias

from llm_runtime.errors import ConfigurationError
from llm_runtime.structs import Struct

_MOST_TEXT = 1 << 20
_MOST_FILES = 2000
_MOST_BYTES = 32 << 20
REPOSITORY: dict[str, object] = {
    "shape": "repository",
    "budget": {"exec": 60, "read_file": 120, "write_file": 60, "seconds": 1800.0, "turns": 120},
}
"""What ``meta.json`` says of a repository that is to be repaired."""
_OTHER = re.compile(r"[^a-z0-9_-]+")
PuzzleFiles: TypeAlias = "dict[str, str | bytes | Path]"
"""By path within a puzzle's folder."""


def write_puzzle(folder: Path, files: Mapping[str, str | bytes | Path]) -> None:
    """Write a whole puzzle folder, or nothing: into a draft beside it that is renamed at the end; files are moved.

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
            if isinstance(content, Path):
                shutil.move(content, path)
            else:
                path.write_bytes(content if isinstance(content, bytes) else content.encode())
        draft.chmod(0o755)
        draft.rename(folder)
    except BaseException:
        shutil.rmtree(draft, ignore_errors=True)
        raise


class LeftOut(ValueError):
    """A task makes no puzzle; the message says why."""


class SuiteTask(Struct):
    """A task of others' that tests decide, in whatever form it was found.

    Args:
        title: one line.
        words: what is to be done.
        work: what a solver starts from, by path.
        gold: what the right solution has otherwise, by path.
        hidden: the tests, and what they need that no solver may change, by path.
        suites: by the name of a check, the tests that it runs: ``path.py::name``.
        checks: further ones.
        seconds: that a suite may take.
        meta: what else ``meta.json`` says.
        image: the archive of which its boxes are made, which is moved; ``None`` where a small root will do.
    """

    title: str
    words: str
    work: Mapping[str, str | bytes]
    gold: Mapping[str, str | bytes] = field(default_factory=dict[str, "str | bytes"])
    hidden: Mapping[str, str | bytes] = field(default_factory=dict[str, "str | bytes"])
    suites: Mapping[str, Sequence[str]] = field(default_factory=dict[str, Sequence[str]])
    checks: Sequence[Mapping[str, Any]] = ()
    seconds: int = 20
    meta: Mapping[str, Any] = field(default_factory=dict[str, Any])
    image: Path | None = None

    def files(self, name: str, source: str) -> PuzzleFiles:
        """Return the puzzle's files.

        Raises:
            LeftOut: a suite holds no tests.
        """
        if not all(self.suites.values()):
            raise LeftOut("a test file holds no tests")
        puzzle = _OTHER.sub("-", name.lower().encode("punycode").decode()).strip("-_")[:64]
        meta = {"id": puzzle, "title": self.title, "kind": "imported", "source": f"{source}: {name}", **self.meta}
        runs = {"kind": "call", "target": ":tests", "with": sorted(self.hidden), "seconds": self.seconds}
        cases = {
            name: {"args": [*tests], "expect": dict.fromkeys(tests, "passed")} for name, tests in self.suites.items()
        }
        suites = [{"name": name, **runs, "cases": [case]} for name, case in cases.items()]
        parts = {"work": self.work, "oracle/gold": self.gold, "oracle/with": self.hidden}
        return {
            "meta.json": as_json(meta),
            "prompt.md": f"{self.words.strip()}\n",
            "oracle/checks.json": as_json({"checks": [*suites, *self.checks]}),
            **({"image.tar": self.image} if self.image else {}),
            **{f"{part}/{path}": text for part, files in parts.items() for path, text in files.items()},
        }


def read_text(path: Path) -> str:
    """Read a small text file.

    Raises:
        OSError: it cannot be read.
        ValueError: it is a link, larger than 1 MiB, or not UTF-8.
    """
    if path.is_symlink() or path.stat().st_size > _MOST_TEXT:
        raise ValueError(path)
    return path.read_text(encoding="utf-8")


def read_tree(root: Path) -> dict[str, bytes]:
    """Return the regular files of a folder, without what git and Python keep there.

    Raises:
        ValueError: there is more than a puzzle holds.
    """
    files: dict[str, bytes] = {}
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(name for name in folders if name not in (".git", "__pycache__"))
        for path in (Path(folder, name) for name in sorted(names)):
            if path.is_file() and not path.is_symlink():
                files[path.relative_to(root).as_posix()] = path.read_bytes()
        if len(files) > _MOST_FILES or sum(map(len, files.values())) > _MOST_BYTES:
            raise ValueError(root)
    return files


def as_json(data: object) -> str:
    """Return the text of a puzzle's JSON file."""
    return json.dumps(data, indent=1) + "\n"


def tests_of(path: str, text: str) -> dict[str, str]:
    """Return the tests of a file, functions and methods, by the names under which they are run, as they are written."""
    tests: dict[str, str] = {}
    for node in ast.parse(text).body:
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test"):
            tests[f"{path}::{node.name}"] = ast.unparse(node)
        elif isinstance(node, ast.ClassDef):
            for part in node.body:
                if isinstance(part, ast.FunctionDef) and part.name.startswith("test"):
                    tests[f"{path}::{node.name}::{part.name}"] = ast.unparse(part)
    return tests
