"""Puzzles out of instances in the form of SWE-bench: JSON lines beside snapshots of their repositories.

An instance has ``instance_id``, ``problem_statement``, ``patch``, ``test_patch``, ``FAIL_TO_PASS`` and
``PASS_TO_PASS``. The repository before the repair lies in ``repos/INSTANCE_ID``, ``INSTANCE_ID`` or
``repos/OWNER__NAME`` beside the file. Git applies patches to a copy; nothing of a repository is run.
Source: Jimenez et al. 2023, SWE-bench, arXiv:2310.06770.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

from ai_crucible.puzzle_box import told
from ai_crucible.puzzle_files import PuzzleFiles, as_json, suite_check, why_unreadable
from llm_runtime.errors import ConfigurationError
from sandbox import OF_OURS, Order, Root, run_now

_TEXTS = ("problem_statement", "patch", "test_patch")
_TESTS = ("FAIL_TO_PASS", "PASS_TO_PASS")
_TASK = "Repair the repository. Tests that you do not see decide."
_MOST_FILES = 2000
_MOST_BYTES = 32 * 1024 * 1024
_SECONDS = 120
_BUDGET = {"exec": 60, "read_file": 120, "write_file": 60, "seconds": 1800.0, "turns": 120}
_ID = re.compile(r"[^a-z0-9_-]+")
_UNITTEST = re.compile(r"(\w+) \(([\w.]+)\.(\w+)\)")


def instance_files(source: Path) -> list[Path]:
    """Return the files of instances: the one that is named, or those of a folder."""
    files = [source] if source.is_file() else sorted(source.glob("*.jsonl"))
    return [path for path in files if path.suffix == ".jsonl" and not path.is_symlink()]


def instances(source: Path, origin: str) -> Iterator[tuple[str, PuzzleFiles | str]]:
    """Yield each instance by its name: a puzzle's files, or why it makes none."""
    for path in instance_files(source):
        for number, line in enumerate(path.read_text(encoding="utf-8", errors="replace").splitlines(), 1):
            if not line.strip():
                continue
            name = f"{path.name} line {number}"
            try:
                data = json.loads(line)
                instance = cast("dict[str, Any]", data) if isinstance(data, dict) else {}
                name = str(instance.get("instance_id") or name)
                yield name, _puzzle(path.parent, name, instance, origin)
            except (OSError, ValueError, RecursionError) as fault:
                yield name, why_unreadable(fault)


def _puzzle(base: Path, name: str, instance: dict[str, Any], origin: str) -> PuzzleFiles | str:
    missing = [key for key in (*_TEXTS, *_TESTS) if key not in instance]
    if missing:
        return f"it has no {', '.join(missing)}"
    repository = str(instance.get("repo", "")).replace("/", "__") or name
    places = [base / "repos" / name, base / name, base / "repos" / repository]
    snapshot = next((place for place in places if _plain(place, base) and place.is_dir()), None)
    if snapshot is None:
        return f"no snapshot of its repository lies in {base / 'repos' / name}"
    before = _files(snapshot)
    repaired = _patched(before, str(instance["patch"]))
    tested = _patched(before, str(instance["test_patch"]))
    if repaired is None or tested is None:
        return "its patch does not fit the snapshot"
    changed, tests = (
        {path: text for path, text in files.items() if before.get(path) != text} for files in (repaired, tested)
    )
    if not changed or set(before) - set(repaired):
        return "its patch changes nothing, or takes files away"
    names = {kind: _tests(instance[kind]) for kind in _TESTS}
    if not names["FAIL_TO_PASS"] or None in names["FAIL_TO_PASS"] + names["PASS_TO_PASS"]:
        return "its tests are not named as path.py::test, or none fails"
    checks = [
        suite_check(kind.lower().replace("_", " "), cast("list[str]", own), sorted(tests), _SECONDS)
        for kind, own in names.items()
        if own
    ]
    meta = {
        "id": _ID.sub("-", name.lower()).strip("-_")[:64],
        "title": f"Repair {repository}",
        "kind": "imported",
        "source": f"{origin}: {name}",
        "shape": "repository",
        "budget": _BUDGET,
    }
    return {
        "meta.json": as_json(meta),
        "prompt.md": f"{instance['problem_statement']}\n\n{_TASK}\n",
        "oracle/checks.json": as_json({"checks": checks}),
        **{f"work/{path}": content for path, content in before.items()},
        **{f"oracle/gold/{path}": content for path, content in changed.items()},
        **{f"oracle/with/{path}": content for path, content in tests.items()},
    }


def _plain(place: Path, base: Path) -> bool:
    return place.resolve().is_relative_to(base.resolve()) and place != base


def _files(root: Path) -> dict[str, bytes]:
    """Return the regular files of a snapshot.

    Raises:
        ValueError: there are more of them than a puzzle may hold.
    """
    files: dict[str, bytes] = {}
    for folder, folders, names in os.walk(root):
        folders[:] = [name for name in folders if name not in (".git", "__pycache__")]
        for path in (Path(folder, name) for name in names):
            if path.is_file() and not path.is_symlink():
                files[path.relative_to(root).as_posix()] = path.read_bytes()
    if len(files) > _MOST_FILES or sum(map(len, files.values())) > _MOST_BYTES:
        raise ValueError(root)
    return files


def _patched(files: dict[str, bytes], patch: str) -> dict[str, bytes] | None:
    """Return the files after a patch; ``None`` where it does not fit.

    Raises:
        ConfigurationError: no git is here, or no sandbox.
    """
    git = shutil.which("git")
    if git is None:
        raise ConfigurationError("instances come with patches, which git applies: install git")
    if not patch.strip():
        return files
    with tempfile.TemporaryDirectory() as room:
        for name, content in files.items():
            path = Path(room, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        order = Order(
            (str(Path(git).resolve()), "apply", "--whitespace=nowarn", "-"), OF_OURS, room, Root(whole=True),
            environment={"HOME": "/tmp", "GIT_CEILING_DIRECTORIES": str(Path(room).parent)},
            writable=(Path(room),), readable=(Path(sys.prefix), Path(sys.base_prefix)), python=sys.executable,
        )  # fmt: skip
        with told():
            done = run_now(order, stdin=patch.encode())
        return _files(Path(room)) if done.code == 0 else None


def _tests(value: object) -> list[str | None]:
    """Return the names of tests as ``path.py::test``; ``None`` for one that is not named so."""
    listed: object = json.loads(value) if isinstance(value, str) else value
    return [_test(str(name)) for name in cast("list[object]", listed)] if isinstance(listed, list) else [None]


def _test(name: str) -> str | None:
    if (match := _UNITTEST.fullmatch(name)) is not None:
        method, module, kind = match.groups()
        return f"{module.replace('.', '/')}.py::{kind}::{method}"
    return name if ".py::" in name else None
