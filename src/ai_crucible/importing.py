"""Puzzles out of others' tasks. Nothing that is found there is run; :mod:`ai_crucible.sealing` tries it in boxes.

Exercises of Exercism, instances of SWE-bench and tasks of Harbor and Terminal-Bench are read by modules of their
own, folders of (buggy program, tests, fixed program) here.

A QuixBugs checkout has ``python_programs/NAME.py``, ``correct_python_programs/NAME.py`` and, for most,
``json_testcases/NAME.json`` with one ``[arguments, expected]`` a line; ``python_testcases/test_NAME.py`` says which
of them take too long and how near an answer must be, and is run itself where there are none.
Another folder has a program ``NAME.py``,
its repair ``NAME_fixed.py`` or ``fixed/NAME.py``, and cases in ``NAME.json`` or tests in ``test_NAME.py``.
"""

from __future__ import annotations

import ast
import json
import re
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, cast

from ai_crucible.exercism import exercises
from ai_crucible.harbor import harbor_tasks
from ai_crucible.puzzle_files import LeftOut, SuiteTask, read_text, tests_of, write_puzzle
from ai_crucible.swe_bench import instances
from llm_runtime.errors import ConfigurationError
from llm_runtime.structs import Struct

_MOST_CASES = 200
_NAME = re.compile(r"^[a-z][a-z0-9_]{0,50}$")
_NO_PROGRAM = re.compile(r"^test_|_test$|_fixed$|^__init__$|^node$")
_UNREADABLE = (OSError, ValueError, SyntaxError, RecursionError, MemoryError)


class Imported(Struct):
    """What came of an import: folders written, and programs left out with the reason."""

    written: tuple[Path, ...]
    left_out: dict[str, str]


def import_folder(source: Path, target: Path, *, origin: str = "", build: bool = False) -> Imported:
    """Write a puzzle folder for every usable program of ``source`` into ``target``; existing ones are left alone.

    Args:
        source: a checkout; only read, links are not followed.
        target: a folder of puzzles; made where there is none.
        origin: what ``meta.json`` names as the source; the checkout's folder name where left out.
        build: build the images that tasks need, with what builds them here, which runs what their authors wrote.

    Raises:
        ConfigurationError: ``source`` holds nothing of the kind.
    """
    with tempfile.TemporaryDirectory() as images:
        return _imported(source.resolve(), target, origin, Path(images) if build else None)


def _imported(source: Path, target: Path, origin: str, images: Path | None) -> Imported:
    written, left_out = list[Path](), dict[str, str]()
    tasks: list[tuple[str, Callable[[], SuiteTask]]] = []
    for form in (instances, partial(harbor_tasks, images=images), exercises, programs):
        tasks = tasks or list(form(source))
    if not tasks:
        raise ConfigurationError(
            f"{source}: no programs with tests and a fixed version, no exercises (.meta/config.json), no instances "
            "(*.jsonl) and no tasks (task.toml, task.yaml) were found there"
        )
    for name, read in sorted(tasks, key=lambda task: task[0]):
        # Punycode (RFC 3492) leaves a name in ASCII as it is: those in other scripts have folders of their own.
        folder = target / re.sub(r"[^a-z0-9-]+", "-", name.lower().encode("punycode").decode()).strip("-")
        try:
            if folder.exists():
                raise LeftOut(f"{folder.name} is there already")
            write_puzzle(folder, read().files(name, origin or source.name))
            written.append(folder)
        except LeftOut as fault:
            left_out[name] = str(fault)
        except _UNREADABLE as fault:
            why = f"{fault.filename}: {fault.strerror}" if isinstance(fault, OSError) else type(fault).__name__
            left_out[name] = f"it cannot be read: {why}"
    return Imported(tuple(written), left_out)


def programs(source: Path) -> Iterator[tuple[str, Callable[[], SuiteTask]]]:
    """Yield each program of a folder that has tests or a repair beside it by its name, with what reads it."""
    quix = source / "python_programs"
    for program in sorted((quix if quix.is_dir() else source).glob("*.py")):
        name = program.stem
        repaired = (f"correct_python_programs/{name}.py", f"{name}_fixed.py", f"fixed/{name}.py")
        fixed = next((source / path for path in repaired if (source / path).is_file()), None)
        tested = quix.is_dir() or (source / f"test_{name}.py").exists() or (source / f"{name}.json").exists()
        if (fixed or tested) and not _NO_PROGRAM.search(name):
            yield name, partial(_task, source, program, fixed)


def _task(source: Path, program: Path, fixed: Path | None) -> SuiteTask:
    name = program.stem
    if not _NAME.match(name):
        raise LeftOut("its name is not a plain module name")
    if fixed is None:
        raise LeftOut("no fixed version of it was found")
    right = read_text(fixed)
    if not any(isinstance(node, ast.FunctionDef) and node.name == name for node in ast.parse(right).body):
        raise LeftOut(f"it defines no function {name}")
    cases, file = _cases(source, name), f"test_{name}.py"
    places = (source / "python_testcases" / file, source / file, source / "tests" / file)
    tests = next((path for path in places if path.is_file()), places[0])
    if not cases and not tests.is_file():
        raise LeftOut("there are no tests of it")
    # A test file imports its program from the checkout's folder, and what is beside it there.
    hidden = {} if cases else {tests.name: read_text(tests)}
    node = source / "python_programs" / "node.py"
    place = program.relative_to(source).as_posix() if hidden else program.name
    call = {"kind": "call", "target": f"{name}:{name}", "seconds": 30}
    each = ({"name": f"case {n}", **call, "cases": [case]} for n, case in enumerate(cases, 1))
    return SuiteTask(
        f"Repair {name}",
        f"`{place}` defines the function `{name}`, which has a defect. Repair it.",
        {place: read_text(program), **({"node.py": read_text(node)} if hidden and node.is_file() else {})},
        {place: right},
        hidden,
        {"its tests": [*tests_of(tests.name, hidden[tests.name])]} if hidden else {},
        [*each, {"name": "still defined", "kind": "file", "path": place, "matches": rf"^def {name}\b"}],
        meta={"editable": [place]},
    )


def _limits(source: Path, name: str) -> tuple[list[Any], ast.expr | None]:
    """Return which inputs a test file leaves out as too slow, and how near it lets an answer be."""
    path = source / "python_testcases" / f"test_{name}.py"
    slow: list[Any] = []
    near: ast.expr | None = None
    for node in ast.walk(ast.parse(read_text(path))) if path.is_file() else ():
        match node:
            case ast.If(test=test, body=[ast.Expr(value=ast.Call(func=ast.Attribute(attr="skip")))]):
                for part in ast.walk(test):
                    if isinstance(part, ast.Compare) and isinstance(part.ops[0], ast.Eq):
                        slow.append(ast.literal_eval(part.comparators[0]))
            case ast.Call(func=ast.Attribute(attr="approx"), keywords=[ast.keyword(arg="abs", value=value)]):
                near = value
            case _:
                pass
    return slow, near


def _tolerance(near: ast.expr | None, arguments: list[Any]) -> float | None:
    """Return how near an answer must be: a number, or one of the arguments, ``input_data[N]``."""
    match near:
        case None:
            return None
        case ast.Subscript(slice=place):
            return float(arguments[ast.literal_eval(place)])
        case _:
            return float(ast.literal_eval(near))


def _cases(source: Path, name: str) -> list[dict[str, Any]]:
    places = (source / "json_testcases" / f"{name}.json", source / f"{name}.json")
    path = next((path for path in places if path.is_file()), None)
    return _json_cases(read_text(path), *_limits(source, name)) if path else []


def _json_cases(text: str, slow: list[Any], near: ast.expr | None) -> list[dict[str, Any]]:
    cases: list[dict[str, Any]] = []
    for line in filter(str.strip, text.split("\n")[:_MOST_CASES]):
        data = json.loads(line)
        if not isinstance(data, list) or len(cast(list[Any], data)) != 2:
            raise ValueError(line)
        arguments, expected = cast(list[Any], data)
        args = cast(list[Any], arguments) if isinstance(arguments, list) else [arguments]
        if args not in slow:
            within = _tolerance(near, args)
            cases.append({"args": args, "expect": expected, **({} if within is None else {"within": within})})
    return cases
