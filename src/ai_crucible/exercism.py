"""Tasks out of exercises of a Python track of Exercism: a folder with ``.meta/config.json`` each.

``files`` in it names the solution to be written, its tests, and the example or exemplar that passes them; what is
to be done stands in ``.docs``.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path, PurePosixPath
from typing import cast

from ai_crucible.puzzle_files import LeftOut, SuiteTask, read_text, tests_of
from llm_runtime.http.shape import mapping

_WORDS = ("introduction.md", "instructions.md", "instructions.append.md")


def exercises(source: Path) -> Iterator[tuple[str, Callable[[], SuiteTask]]]:
    """Yield each exercise below a folder by its name, with what reads it."""
    for config in sorted(source.rglob(".meta/config.json")):
        yield config.parents[1].name, partial(_task, config.parents[1])


def _task(folder: Path) -> SuiteTask:
    parts = mapping(mapping(json.loads(read_text(folder / ".meta/config.json"))).get("files"))
    if not parts:
        raise LeftOut(".meta/config.json names no files")
    named = [_names(parts.get(kind)) for kind in ("solution", "test", "editor", "exemplar", "example")]
    solutions, tests, editor, right = *named[:3], named[3] or named[4]
    if not solutions or not tests or len(solutions) != len(right):
        raise LeftOut("it names no tests, or not one example for each solution")
    if not all(name.endswith(".py") for name in (*solutions, *tests)):
        raise LeftOut("it is no exercise in Python")
    texts = {name: read_text(folder / name) for name in (*solutions, *tests, *right, *editor)}
    words = [read_text(folder / ".docs" / name) for name in _WORDS if (folder / ".docs" / name).is_file()]
    task = f"Write {', '.join(f'`{name}`' for name in solutions)}. Tests that you do not see decide."
    return SuiteTask(
        f"Exercise {folder.name}",
        "\n\n".join([*words, task]),
        {name: texts[name] for name in (*solutions, *editor)},
        {name: texts[example] for name, example in zip(solutions, right, strict=True)},
        {name: texts[name] for name in tests},
        {path: [*tests_of(path, texts[path])] for path in tests},
        [{"name": f"{name} is there", "kind": "file", "path": name, "absent": False} for name in solutions],
        meta={"kind": "exercise", "shape": "specification", "editable": solutions},
    )


def _names(value: object) -> list[str]:
    """Return names of files within the folder.

    Raises:
        ValueError: one leads out of it.
    """
    names = [str(name) for name in cast("list[object]", value)] if isinstance(value, list) else []
    if any(".." in PurePosixPath(name).parts or name.startswith("/") for name in names):
        raise ValueError(names)
    return names
