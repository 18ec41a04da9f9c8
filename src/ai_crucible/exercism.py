"""Puzzles out of exercises of a Python track of Exercism: a folder with ``.meta/config.json`` each.

``files`` in it names the solution to be written, its tests, and the example or exemplar that passes them; what is
to be done stands in ``.docs``.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any, cast

from ai_crucible.puzzle_files import PuzzleFiles, as_json, read_text, suite_check, tests_of, why_unreadable

_WORDS = ("introduction.md", "instructions.md", "instructions.append.md")


def exercises(source: Path, origin: str) -> Iterator[tuple[str, PuzzleFiles | str]]:
    """Yield each exercise below a folder by its name: a puzzle's files, or why it makes none."""
    for config in sorted(source.rglob(".meta/config.json")):
        folder = config.parent.parent
        try:
            yield folder.name, _puzzle(folder, json.loads(read_text(config)), origin)
        except (OSError, ValueError, SyntaxError, RecursionError) as fault:
            yield folder.name, why_unreadable(fault)


def _puzzle(folder: Path, config: object, origin: str) -> PuzzleFiles | str:
    parts = cast("dict[str, Any]", config).get("files") if isinstance(config, dict) else None
    if not isinstance(parts, dict):
        return ".meta/config.json names no files"
    named = cast("dict[str, Any]", parts)
    solutions, tests, editor = (_names(named.get(kind)) for kind in ("solution", "test", "editor"))
    examples = _names(named.get("exemplar")) or _names(named.get("example"))
    if not solutions or not tests or len(solutions) != len(examples):
        return "it names no tests, or not one example for each solution"
    if not all(name.endswith(".py") for name in (*solutions, *tests)):
        return "it is no exercise in Python"
    texts = {name: read_text(folder / name) for name in (*solutions, *tests, *examples, *editor)}
    checks = [suite_check(path, [*tests_of(path, texts[path])], [path]) for path in tests]
    if not all(check["cases"][0]["args"] for check in checks):
        return "a test file holds no tests"
    checks += [{"name": f"{name} is there", "kind": "file", "path": name, "absent": False} for name in solutions]
    meta = {
        "id": folder.name,
        "title": f"Exercise {folder.name}",
        "kind": "exercise",
        "source": f"{origin}: {folder.name}",
        "shape": "specification",
        "editable": solutions,
    }
    words = [read_text(folder / ".docs" / name) for name in _WORDS if (folder / ".docs" / name).is_file()]
    task = f"Write {', '.join(f'`{name}`' for name in solutions)}. Tests that you do not see decide."
    return {
        "meta.json": as_json(meta),
        "prompt.md": "\n\n".join([*words, task]) + "\n",
        "oracle/checks.json": as_json({"checks": checks}),
        **{f"work/{name}": texts[name] for name in (*solutions, *editor)},
        **{f"oracle/gold/{name}": texts[example] for name, example in zip(solutions, examples, strict=True)},
        **{f"oracle/with/{name}": texts[name] for name in tests},
    }


def _names(value: object) -> list[str]:
    """Return names of files within the folder.

    Raises:
        ValueError: one leads out of it.
    """
    names = [str(name) for name in cast("list[object]", value)] if isinstance(value, list) else []
    if any(".." in PurePosixPath(name).parts or name.startswith("/") for name in names):
        raise ValueError(names)
    return names
