"""Tasks out of instances in the form of SWE-bench: JSON lines beside snapshots of their repositories.

An instance has ``instance_id``, ``problem_statement``, ``patch``, ``test_patch``, ``FAIL_TO_PASS`` and
``PASS_TO_PASS``. The repository before the repair lies in ``repos/INSTANCE_ID``, ``INSTANCE_ID`` or
``repos/OWNER__NAME`` beside the file. Git applies patches to a copy; nothing of a repository is run.
Source: Jimenez et al. 2023, SWE-bench, arXiv:2310.06770.
"""

from __future__ import annotations

import json
import re
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

from ai_crucible.puzzle_box import told
from ai_crucible.puzzle_files import REPOSITORY, LeftOut, SuiteTask, read_tree
from llm_runtime.errors import ConfigurationError
from llm_runtime.http.shape import mapping, sequence
from sandbox import OF_OURS, Order, Root, run_now

_TEXTS = ("problem_statement", "patch", "test_patch")
_TESTS = ("FAIL_TO_PASS", "PASS_TO_PASS")
_TASK = "Repair the repository. Tests that you do not see decide."
_SECONDS = 120
_UNITTEST = re.compile(r"(\w+) \(([\w.]+)\.(\w+)\)")


def instances(source: Path) -> Iterator[tuple[str, Callable[[], SuiteTask]]]:
    """Yield each instance of a file, or of those of a folder, by its name, with what reads it."""
    for path in [source] if source.is_file() else sorted(source.glob("*.jsonl")):
        if path.suffix != ".jsonl" or path.is_symlink():
            continue
        # Split where a file's lines end: a statement may hold what Unicode calls the end of one.
        for number, line in enumerate(path.read_text(encoding="utf-8", errors="replace").split("\n"), 1):
            if line.strip():
                instance: dict[str, Any] = {}
                with suppress(ValueError, RecursionError):
                    instance = mapping(json.loads(line))
                name = str(instance.get("instance_id") or f"{path.name} line {number}")
                yield name, partial(_task, path.parent, name, instance)


def _task(base: Path, name: str, instance: dict[str, Any]) -> SuiteTask:
    if missing := [key for key in (*_TEXTS, *_TESTS) if key not in instance]:
        raise LeftOut(f"it has no {', '.join(missing)}")
    repository = str(instance.get("repo", "")).replace("/", "__") or name
    places = [base / "repos" / name, base / name, base / "repos" / repository]
    inside = (place for place in places if place.resolve().is_relative_to(base.resolve()) and place != base)
    snapshot = next(filter(Path.is_dir, inside), None)
    if snapshot is None:
        raise LeftOut(f"no snapshot of its repository lies in {base / 'repos' / name}")
    before = read_tree(snapshot)
    gold, tests = (changed(before, str(instance[patch])) for patch in ("patch", "test_patch"))
    names = {kind.lower().replace("_", " "): _tests(instance[kind]) for kind in _TESTS}
    if not gold:
        raise LeftOut("its patch changes nothing, or takes files away")
    if not names["fail to pass"] or not all(map(all, names.values())):
        raise LeftOut("its tests are not named as path.py::test, or none fails")
    suites = {kind: own for kind, own in names.items() if own}
    words, title = f"{instance['problem_statement']}\n\n{_TASK}", f"Repair {repository}"
    return SuiteTask(title, words, before, gold, tests, suites, seconds=_SECONDS, meta=REPOSITORY)


def changed(files: dict[str, bytes], patch: str) -> dict[str, bytes]:
    """Return the files that a patch changes or adds; none where it takes some away.

    Raises:
        LeftOut: it does not fit.
        ConfigurationError: no git is here, or no sandbox.
    """
    git = shutil.which("git")
    if git is None:
        raise ConfigurationError("instances come with patches, which git applies: install git")
    if not patch.strip():
        return {}
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
        if done.code != 0:
            raise LeftOut("its patch does not fit the snapshot")
        after = read_tree(Path(room))
    if set(files) - set(after):
        return {}
    return {path: text for path, text in after.items() if files.get(path) != text}


def _tests(value: object) -> list[str]:
    """Return the names of tests as ``path.py::test``, empty where one is not named so."""
    return [_test(str(name)) for name in sequence(json.loads(value) if isinstance(value, str) else value)]


def _test(name: str) -> str:
    if (match := _UNITTEST.fullmatch(name)) is not None:
        method, module, kind = match.groups()
        return f"{module.replace('.', '/')}.py::{kind}::{method}"
    return name if ".py::" in name else ""
