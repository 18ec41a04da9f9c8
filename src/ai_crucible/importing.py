"""Puzzles out of others' tasks. Nothing that is found there is run.

Exercises of Exercism, instances of SWE-bench and tasks of Harbor and Terminal-Bench are read by modules of their
own, folders of (buggy program, tests, fixed program) here.

A QuixBugs checkout has ``python_programs/NAME.py``, ``correct_python_programs/NAME.py`` and, for most,
``json_testcases/NAME.json`` with one ``[arguments, expected]`` a line; ``python_testcases/test_NAME.py`` says which
of them take too long and how near an answer must be, and is run itself where there are none.
Another folder has a program ``NAME.py``,
its repair ``NAME_fixed.py`` or ``fixed/NAME.py``, and cases in ``NAME.json`` or ``test_NAME.py``; of the latter
those assertions are taken whose arguments and results are literals.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from ai_crucible.exercism import exercises
from ai_crucible.harbor import harbor_tasks, task_folders
from ai_crucible.puzzle_files import (
    PuzzleFiles,
    as_json,
    read_text,
    suite_check,
    tests_of,
    why_unreadable,
    write_puzzle,
)
from ai_crucible.swe_bench import instance_files, instances
from llm_runtime.errors import ConfigurationError

_MOST_CASES = 200
_EQUALITIES = frozenset({"assertEqual", "assertEquals", "assertIs"})
_NAME = re.compile(r"^[a-z][a-z0-9_]{0,50}$")


@dataclass(frozen=True, slots=True)
class Triple:
    """One program to be made a puzzle of: its name, buggy and fixed text, and what its tests say."""

    name: str
    buggy: str
    fixed: str
    cases: list[dict[str, Any]]
    origin: str
    tests: dict[str, str] = field(default_factory=dict[str, str])
    """Where no cases could be taken out of them: test files to be run beside the program, by their place."""
    beside: dict[str, str] = field(default_factory=dict[str, str])
    """What the tests need besides the program."""


@dataclass(frozen=True, slots=True)
class Imported:
    """What came of an import: folders written, and programs left out with the reason."""

    written: tuple[Path, ...]
    left_out: dict[str, str]


def import_folder(source: Path, target: Path, *, origin: str = "") -> Imported:
    """Write a puzzle folder for every usable program of ``source`` into ``target``; existing ones are left alone.

    Args:
        source: a checkout; only read, links are not followed.
        target: a folder of puzzles; made where there is none.
        origin: what ``meta.json`` names as the source; the checkout's folder name where left out.

    Raises:
        ConfigurationError: ``source`` holds nothing of the kind.
    """
    results: dict[str, PuzzleFiles | str] = {}
    for name, result in _found(source.resolve(), origin or source.resolve().name):
        results.setdefault(name, result)
    if not results:
        raise ConfigurationError(
            f"{source}: no programs with tests and a fixed version, no exercises (.meta/config.json), no instances "
            "(*.jsonl) and no tasks (task.toml, task.yaml) were found there"
        )
    written: list[Path] = []
    left_out: dict[str, str] = {}
    for name in sorted(results):
        files = results[name]
        folder = target / re.sub(r"[^a-z0-9-]+", "-", name.lower()).strip("-")
        if isinstance(files, str):
            left_out[name] = files
        elif folder.exists():
            left_out[name] = f"{folder.name} is there already"
        else:
            write_puzzle(folder, files)
            written.append(folder)
    return Imported(tuple(written), left_out)


def _found(source: Path, origin: str) -> Iterator[tuple[str, PuzzleFiles | str]]:
    if instance_files(source):
        yield from instances(source, origin)
    elif task_folders(source):
        yield from harbor_tasks(source, origin)
    elif next(source.rglob(".meta/config.json"), None) is not None:
        yield from exercises(source, origin)
    else:
        for name, triple in _triples(source, origin):
            yield name, triple if isinstance(triple, str) else _puzzle(triple)


def _triples(source: Path, origin: str) -> Iterator[tuple[str, Triple | str]]:
    quix = source / "python_programs"
    programs = sorted((quix if quix.is_dir() else source).glob("*.py"))
    for program in programs:
        name = program.stem
        if name.startswith("test_") or name.endswith(("_test", "_fixed")) or name in ("__init__", "node"):
            continue
        if not _NAME.match(name):
            yield name, "its name is not a plain module name"
            continue
        fixed = next((path for path in _fixed(source, name) if path.is_file()), None)
        if fixed is None:
            if quix.is_dir() or (source / f"test_{name}.py").exists() or (source / f"{name}.json").exists():
                yield name, "no fixed version of it was found"
            continue
        yield name, _triple(source, program, fixed, origin)


def _fixed(source: Path, name: str) -> list[Path]:
    return [
        source / "correct_python_programs" / f"{name}.py",
        source / f"{name}_fixed.py",
        source / "fixed" / f"{name}.py",
    ]


def _triple(source: Path, program: Path, fixed: Path, origin: str) -> Triple | str:
    name = program.stem
    try:
        buggy_text, fixed_text = read_text(program), read_text(fixed)
        tree = ast.parse(fixed_text)
        cases = _cases(source, name)
        tests, beside = ({}, {}) if cases else _test_files(source, name)
    except (OSError, ValueError, SyntaxError, RecursionError, MemoryError) as fault:
        return why_unreadable(fault)
    if not any(isinstance(node, ast.FunctionDef) and node.name == name for node in tree.body):
        return f"it defines no function {name}"
    if not cases and not tests:
        return "its tests hold no case with literal arguments and results"
    return Triple(name, buggy_text, fixed_text, cases, f"{origin}: {program.name}", tests, beside)


def _test_files(source: Path, name: str) -> tuple[dict[str, str], dict[str, str]]:
    """Return test files to be run whole, and the modules of the checkout that they import."""
    tests = source / "python_testcases" / f"test_{name}.py"
    if not tests.is_file():
        return {}, {}
    node = source / "python_programs" / "node.py"
    return {tests.name: read_text(tests)}, {"node.py": read_text(node)} if node.is_file() else {}


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
    for path in (source / "json_testcases" / f"{name}.json", source / f"{name}.json"):
        if path.is_file():
            return _json_cases(read_text(path), *_limits(source, name))
    for path in (source / f"test_{name}.py", source / "tests" / f"test_{name}.py"):
        if path.is_file():
            return _asserted_cases(read_text(path), name)
    return []


def _json_cases(text: str, slow: list[Any], near: ast.expr | None) -> list[dict[str, Any]]:
    cases: list[dict[str, Any]] = []
    for line in text.splitlines()[:_MOST_CASES]:
        if not line.strip():
            continue
        data = json.loads(line)
        if not isinstance(data, list) or len(cast(list[Any], data)) != 2:
            raise ValueError(line)
        arguments, expected = cast(list[Any], data)
        args = cast(list[Any], arguments) if isinstance(arguments, list) else [arguments]
        if args not in slow:
            within = _tolerance(near, args)
            cases.append({"args": args, "expect": expected, **({} if within is None else {"within": within})})
    return cases


def _asserted_cases(text: str, name: str) -> list[dict[str, Any]]:
    cases: list[dict[str, Any]] = []
    for node in ast.walk(ast.parse(text)):
        pair = _asserted(node)
        if pair is None:
            continue
        call, expected = pair
        if isinstance(call, ast.Call) and not call.keywords and _called(call.func) == name:
            try:
                args = [ast.literal_eval(argument) for argument in call.args]
                case = {"args": args, "expect": ast.literal_eval(expected)}
                json.dumps(case, allow_nan=False)
            except (ValueError, TypeError, RecursionError):
                continue
            cases.append(case)
    return cases[:_MOST_CASES]


def _asserted(node: ast.AST) -> tuple[ast.expr, ast.expr] | None:
    if isinstance(node, ast.Assert) and isinstance(node.test, ast.Compare):
        equal = len(node.test.ops) == 1 and isinstance(node.test.ops[0], ast.Eq | ast.Is)
        return (node.test.left, node.test.comparators[0]) if equal else None
    if isinstance(node, ast.Call) and len(node.args) >= 2 and _called(node.func) in _EQUALITIES:
        return node.args[0], node.args[1]
    return None


def _called(function: ast.expr) -> str:
    if isinstance(function, ast.Name):
        return function.id
    return function.attr if isinstance(function, ast.Attribute) else ""


def _puzzle(triple: Triple) -> PuzzleFiles:
    package = "python_programs/" if triple.tests else ""
    file = f"{package}{triple.name}.py"
    meta = {
        "id": triple.name.replace("_", "-"),
        "title": f"Repair {triple.name}",
        "kind": "imported",
        "source": triple.origin,
        "editable": [file],
    }
    prompt = f"`{file}` defines the function `{triple.name}`, which has a defect. Repair it.\n"
    call = {"kind": "call", "target": f"{triple.name}:{triple.name}", "seconds": 30}
    checks: list[dict[str, Any]] = [
        {"name": f"case {n}", **call, "cases": [case]} for n, case in enumerate(triple.cases, 1)
    ]
    for path, text in triple.tests.items():
        checks += [suite_check(test, [test], [path]) for test in tests_of(path, text)]
    checks.append({"name": "still defined", "kind": "file", "path": file, "matches": rf"^def {triple.name}\b"})
    return {
        "meta.json": as_json(meta),
        "prompt.md": prompt,
        "oracle/checks.json": as_json({"checks": checks}),
        f"work/{file}": triple.buggy,
        **{f"work/{path}": text for path, text in triple.beside.items()},
        f"oracle/gold/{file}": triple.fixed,
        **{f"oracle/with/{path}": text for path, text in triple.tests.items()},
    }
