"""Small mistakes made in a right solution, one at a time: what a puzzle's checks must notice."""

from __future__ import annotations

import ast
import copy
import difflib
import json
import re
import subprocess
from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice, zip_longest
from typing import Any, TypeAlias, cast

from llm_runtime.toml import own_table

_Edit: TypeAlias = "tuple[str, Callable[[], None]]"
_LONG = 150
_SWAPPED = {ast.And: ast.Or, ast.Or: ast.And, ast.Break: ast.Continue, ast.Continue: ast.Break}
_KNOWN = own_table(__package__ or "", "mutation.toml")
_COMPARED: dict[str, list[str]] = _KNOWN["compared"]
_COMPUTED: dict[str, str] = _KNOWN["computed"]
_SHELL: list[tuple[str, str]] = _KNOWN["shell"]
"""In a shell script: what is looked for, and what takes its place."""


def mutants(path: str, text: str, before: str = "", *, written: bool = False) -> Iterator[tuple[str, str]]:
    """Yield where a mistake was made, with the line as it reads then, and the text with it.

    None is yielded twice, nor the text as it was.

    Python is changed by its syntax tree, JSON value by value, a shell script and any other text line by line. What
    is yielded of Python and of the shell can be read by them.

    Args:
        path: the file's name, whose ending says what it is.
        text: a right solution.
        before: the file before it was repaired.
        written: of Python only the lines are changed that the repair wrote, as in files of more than 150 lines.
    """
    kind = path.rsplit(".", 1)[-1]
    lines = _written(before, text) if written or (before and text.count("\n") > _LONG) else None
    ways = {"py": partial(_python, lines=lines), "json": _json, "sh": _shell}.get(kind, _lines)
    original = _plain(kind, text)
    seen = {original}
    for where, mutant in ways(text):
        if (plain := _plain(kind, mutant)) not in seen:
            seen.add(plain)
            yield f"{path}: {where}: {_first_other(original, plain)}", mutant


def _written(before: str, after: str) -> set[int]:
    """Return the lines that are not as they were."""
    ways = difflib.SequenceMatcher(None, before.splitlines(), after.splitlines(), autojunk=False).get_opcodes()
    return {line + 1 for way, _, _, start, end in ways if way != "equal" for line in range(start, end)}


def _first_other(before: str, after: str) -> str:
    """Return the first line that is other than before, without its indentation."""
    pairs = zip_longest(before.splitlines(), after.splitlines(), fillvalue="")
    return next((new.strip() for old, new in pairs if old != new), "")


def _plain(kind: str, text: str) -> str:
    return ast.unparse(ast.parse(text)) if kind == "py" else text


def _python(text: str, lines: set[int] | None) -> Iterator[tuple[str, str]]:
    tree = ast.parse(text)
    places = [int(where.split()[1].rstrip(",")) for where, _ in _edits(tree)]
    for number in (number for number, line in enumerate(places) if lines is None or line in lines):
        changed = copy.deepcopy(tree)
        where, edit = next(islice(_edits(changed), number, None))
        edit()
        mutant = ast.unparse(ast.fix_missing_locations(changed)) + "\n"
        try:
            compile(mutant, "mutant", "exec")
        except (SyntaxError, ValueError):
            continue
        yield where, mutant


def _edits(tree: ast.AST) -> Iterator[_Edit]:
    raised = [node.exc for node in ast.walk(tree) if isinstance(node, ast.Raise) and node.exc]
    words = {id(part) for one in raised for part in ast.walk(one)}
    for node in ast.walk(tree):
        for field, value in ast.iter_fields(node):
            for place, child in enumerate(cast("list[Any]", value) if isinstance(value, list) else [value]):
                # What an exception says is for people, and annotations do nothing.
                if not isinstance(child, ast.AST) or id(child) in words or field in ("annotation", "returns"):
                    continue
                line = f"line {getattr(child, 'lineno', getattr(node, 'lineno', 0))}"
                for what, other in _changed(child, node):
                    yield f"{line}, {what}", _put(node, field, place, value, other)


def _put(node: ast.AST, field: str, place: int, value: Any, other: ast.AST) -> Callable[[], None]:
    def edit() -> None:
        if isinstance(value, list):
            value[place] = other
        else:
            setattr(node, field, other)

    return edit


def _changed(node: ast.AST, parent: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    """Yield the mistakes that can be made at one place."""
    match node:
        case ast.Constant() if not isinstance(parent, ast.Expr | ast.FormattedValue):
            yield from (("a constant", ast.Constant(other)) for other in _constants(node.value, parent))
        case ast.cmpop():
            yield from (("a comparison", getattr(ast, other)()) for other in _COMPARED.get(type(node).__name__, ()))
        case ast.operator() if type(node).__name__ in _COMPUTED:
            yield "an operator", getattr(ast, _COMPUTED[type(node).__name__])()
        case ast.And() | ast.Or() | ast.Break() | ast.Continue():
            yield type(node).__name__.lower(), _SWAPPED[type(node)]()
        case ast.UnaryOp(op=ast.Not() | ast.USub()):
            yield "a sign", node.operand
        case ast.If() | ast.While() | ast.IfExp():
            other = copy.copy(node)
            other.test = ast.UnaryOp(ast.Not(), node.test)
            yield "a condition", other
        case ast.Return(value=ast.expr() as value) if not (isinstance(value, ast.Constant) and value.value is None):
            yield "a result", ast.Return(None)
        case ast.Slice():
            if node.lower:
                yield "a slice", ast.Slice(None, node.upper, node.step)
            if node.upper:
                yield "a slice", ast.Slice(node.lower, None, node.step)
        case ast.Raise() | ast.AugAssign() | ast.Assign() | ast.Delete() | ast.Expr(value=ast.Call()):
            yield "a statement", ast.Pass()
        case ast.Call() if node.keywords:
            yield "an argument", ast.Call(node.func, node.args, node.keywords[:-1])
        case _:
            return


def _constants(value: object, parent: ast.AST) -> list[Any]:
    if isinstance(value, bool):
        return [not value]
    if isinstance(value, int | float):
        return [value + 1, value - 1]
    if isinstance(value, bytes) and value:
        return [b"", value + b"X"]
    return ["", value + "X"] if isinstance(value, str) and value and not isinstance(parent, ast.JoinedStr) else []


def _json(text: str) -> Iterator[tuple[str, str]]:
    changed = _others(json.loads(text))
    return ((".".join(map(str, path)), json.dumps(data, indent=2) + "\n") for path, data in changed if path)


def _others(value: Any) -> Iterator[tuple[tuple[Any, ...], Any]]:
    """Yield data with one leaf of it changed, each time another, and where that is."""
    if not isinstance(value, dict | list):
        yield (), not value if isinstance(value, bool) else value + 1 if isinstance(value, int | float) else f"{value}x"
        return
    held = cast(Any, value)
    for key in [*held] if isinstance(value, dict) else range(len(held)):
        for path, other in _others(held[key]):
            changed = copy.copy(held)
            changed[key] = other
            yield (key, *path), changed


def _shell(text: str) -> Iterator[tuple[str, str]]:
    for where, mutant in _shell_lines(text):
        # -n reads and runs nothing.
        if subprocess.run(["/bin/sh", "-n"], input=mutant.encode(), capture_output=True, check=False).returncode == 0:
            yield where, mutant


def _shell_lines(text: str) -> Iterator[tuple[str, str]]:
    yield from _without(text)
    for pattern, other in _SHELL:
        for match in re.finditer(pattern, text):
            line = text.count("\n", 0, match.start()) + 1
            mutant = text[: match.start()] + match.expand(other) + text[match.end() :]
            yield f"line {line}, {match[0].strip()}", mutant


def _lines(text: str) -> Iterator[tuple[str, str]]:
    yield from _without(text)
    for match in re.finditer(r"\d+", text):
        line = text.count("\n", 0, match.start()) + 1
        if not text.splitlines()[line - 1].lstrip().startswith(("#", ";")):
            yield f"line {line}, a number", text[: match.start()] + str(int(match[0]) + 1) + text[match.end() :]


def _without(text: str) -> Iterator[tuple[str, str]]:
    lines = text.splitlines(keepends=True)
    for number, line in enumerate(lines):
        if line.strip() and not line.lstrip().startswith(("#", ";")):
            yield f"line {number + 1}, left out", "".join(lines[:number] + lines[number + 1 :])
