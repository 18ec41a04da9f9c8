"""What an existing package holds, read and never run: its functions, and why some of them cannot be adopted."""

from __future__ import annotations

import ast
import doctest
import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from criticality.languages.base.adopting import plan_name
from criticality.languages.python.adopting.members import as_class, in_lower_case, parameters_of
from criticality.languages.python.adopting.suitable import is_lazy, refusal
from criticality.standing import Candidate, Package
from llm_runtime.errors import ConfigurationError

_COMPILED = (".so", ".pyd", ".pyx")
_NAME = re.compile(r"[a-z][a-z0-9_]{0,60}\Z")


def read_package(path: Path) -> Package:
    """Read a package's folder, or one Python file.

    Raises:
        ConfigurationError: there is none, it cannot be read, or it is no Python.
    """
    path = path.absolute()
    if not path.exists():
        raise ConfigurationError(f"there is no {path}; name a package's folder or a .py file")
    if path.is_file() and path.suffix != ".py":
        what = "compiled; there is no Python source in it" if path.suffix in _COMPILED else "no Python file"
        raise ConfigurationError(f"{path.name} is {what}; name a package's folder or a .py file")
    if path.is_dir() and not (path / "__init__.py").is_file():
        within = sorted(p.parent.name for p in (*path.glob("*/__init__.py"), *path.glob("src/*/__init__.py")))
        hint = f"; did you mean {', '.join(within[:5])} in it?" if within else "; name the folder that has one"
        raise ConfigurationError(f"{path.name} is no package: it has no __init__.py{hint}")
    files = [path] if path.is_file() else sorted(p for p in path.rglob("*") if p.is_file())
    top = path
    while (top.parent / "__init__.py").is_file():
        top = top.parent
    candidates: list[Candidate] = []
    texts: dict[Path, str] = {}
    known: dict[str, str] = {}
    nodes: dict[str, ast.ClassDef] = {}
    for file in files:
        dotted = _dotted(file, top.parent)
        if file.suffix in _COMPILED:
            why = "it is a compiled extension, without Python source"
            candidates.append(Candidate("", dotted.partition(".cpython")[0], "", file, refused=why))
        elif file.suffix == ".py":
            candidates += _module(file, dotted, plan_name(dotted, known), texts, nodes)
    classes = {node.name: node for node in nodes.values()}
    whole = (as_class(nodes[one.shown], classes, one) if one.shown in nodes else one for one in candidates)
    return Package(top.parent, top, tuple(whole), texts)


def _dotted(file: Path, root: Path) -> str:
    parts = list(file.relative_to(root).with_suffix("").parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _module(
    file: Path, dotted: str, plan_name: str, texts: dict[Path, str], nodes: dict[str, ast.ClassDef]
) -> Iterator[Candidate]:
    try:
        data = file.read_bytes()
        encoding = tokenize.detect_encoding(io.BytesIO(data).readline)[0]
        text = data.decode(encoding).replace("\r\n", "\n")
        tree = ast.parse(text)
    except (OSError, SyntaxError, ValueError, LookupError, RecursionError, MemoryError) as fault:
        line = f", line {fault.lineno}" if isinstance(fault, SyntaxError) and fault.lineno else ""
        words = str(fault.msg if isinstance(fault, SyntaxError) else fault) or type(fault).__name__
        yield Candidate("", dotted, "", file, refused=f"it is no Python that can be read: {words[:160]}{line}")
        return
    texts[file] = text
    names = [node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    classes = {node.name for node in ast.walk(tree) if isinstance(node, ast.ClassDef)}
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            plain = in_lower_case(node.name)
            name = plain if plain not in names else f"{plain}_class"
            again = "its name is defined more than once in this file" if f"{dotted}.{node.name}" in nodes else ""
            nodes[f"{dotted}.{node.name}"] = node
            shown = _shown(node, text)
            yield Candidate(f"{plan_name}.{name}", dotted, name, file, written=node.name, refused=again, **shown)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield _function(node, file, dotted, plan_name, text, classes, names.count(node.name))
        elif isinstance(node, ast.If | ast.Try):
            for inner in ast.walk(node):
                if isinstance(inner, ast.FunctionDef | ast.AsyncFunctionDef):
                    why = "it is defined under a condition"
                    yield Candidate("", dotted, inner.name, file, inner.lineno, refused=why)


def _function(
    node: ast.FunctionDef | ast.AsyncFunctionDef, file: Path, dotted: str, plan_name: str, text: str,
    classes: set[str], times: int,
) -> Candidate:  # fmt: skip
    why = refusal(node, classes)
    if not _NAME.match(node.name):
        why = "it is private" if node.name.startswith("_") else "its name is not in lower case"
    elif times > 1:
        why = why or "its name is defined more than once in this file"
    return Candidate(
        f"{plan_name}.{node.name}", dotted, node.name, file, refused=why, lazy=is_lazy(node),
        parameters=tuple(parameters_of(node.args)), examples=tuple(_examples(ast.get_docstring(node) or "")),
        **_shown(node, text),
    )  # fmt: skip


def _shown(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef, text: str) -> Any:
    """Return what a candidate has of its text."""
    first = min([node.lineno, *(d.lineno for d in node.decorator_list)])
    source = "\n".join(text.split("\n")[first - 1 : node.end_lineno])
    return {"line": first, "source": source, "doc": ast.get_docstring(node) or "", "body": _body(node)}


def _body(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> str:
    """Return the statements of a function or a class, without its documentation."""
    statements = node.body[1:] if ast.get_docstring(node) is not None else node.body
    return "\n".join(ast.unparse(statement) for statement in statements) or "pass"


def _examples(doc: str) -> list[tuple[str, str]]:
    try:
        return [(e.source.strip(), e.want.strip()) for e in doctest.DocTestParser().get_examples(doc)]
    except ValueError:
        return []
