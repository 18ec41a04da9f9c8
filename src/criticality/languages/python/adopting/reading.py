"""What an existing package holds, read and never run: its functions, and why some of them cannot be adopted."""

from __future__ import annotations

import ast
import doctest
import io
import re
import tokenize
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from criticality.languages.base.adopting import plan_name
from criticality.languages.python.adopting.members import as_class, parameters_of
from criticality.languages.python.adopting.objects import around, as_function
from criticality.languages.python.adopting.suitable import Function, is_lazy, last_name, own_parts
from criticality.standing import Candidate, Package
from llm_runtime.errors import ConfigurationError

_COMPILED = (".so", ".pyd", ".pyx")
_NAME = re.compile(r"[a-z][a-z0-9_]{0,60}\Z")
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_AGAIN = "its name is defined more than once in this file"
_Defined = Function | ast.ClassDef


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
        within = sorted(str(p.parent.relative_to(path)) for at in ("", "src/") for p in path.glob(f"{at}*/__init__.py"))
        hint = f"; did you mean {', '.join(within[:5])} in it?" if within else "; name the folder that has one"
        raise ConfigurationError(f"{path.name} is no package: it has no __init__.py{hint}")
    files = [path] if path.is_file() else sorted(p for p in path.rglob("*") if p.is_file())
    top = path
    while (top.parent / "__init__.py").is_file():
        top = top.parent
    candidates: list[Candidate] = []
    texts: dict[Path, str] = {}
    known: dict[str, str] = {}
    for file in files:
        dotted = _dotted(file, top.parent)
        if file.suffix in _COMPILED:
            why = "it is a compiled extension, without Python source"
            candidates.append(Candidate("", dotted.partition(".cpython")[0], "", file, refused=why))
        elif file.suffix == ".py":
            candidates += _module(file, dotted, plan_name(dotted, known), texts)
    nodes = [ast.parse(one.source).body[0] if one.source else None for one in candidates]
    within = around(nodes)

    def whole(node: ast.stmt | None, one: Candidate) -> Candidate:
        if isinstance(node, ast.ClassDef):
            return as_class(node, within, one)
        return as_function(node, within, one) if isinstance(node, Function) else one

    return Package(top.parent, top, tuple(map(whole, nodes, candidates)), texts)


def _dotted(file: Path, root: Path) -> str:
    parts = list(file.relative_to(root).with_suffix("").parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _module(file: Path, dotted: str, plan_name: str, texts: dict[Path, str]) -> Iterator[Candidate]:
    try:
        data = file.read_bytes()
        text = data.decode(tokenize.detect_encoding(io.BytesIO(data).readline)[0]).replace("\r\n", "\n")
        tree = ast.parse(text)
    except (OSError, SyntaxError, ValueError, LookupError, RecursionError, MemoryError) as fault:
        line = f", line {fault.lineno}" if isinstance(fault, SyntaxError) and fault.lineno else ""
        words = str(fault.msg if isinstance(fault, SyntaxError) else fault) or type(fault).__name__
        yield Candidate("", dotted, "", file, refused=f"it is no Python that can be read: {words[:160]}{line}")
        return
    texts[file] = text
    names = [node.name for node in ast.walk(tree) if isinstance(node, Function)]
    # An overload only says of another definition how that may be called.
    defined = (node for node in own_parts(tree) if isinstance(node, _Defined))
    own = [node for node in defined if "overload" not in map(last_name, node.decorator_list)]
    times = Counter(node.name for node in own)
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            plain = _HUMP.sub("_", node.name).lower().strip("_")
            one = _candidate(node, f"{plain}_class" if plain in names else plain, file, dotted, plan_name, text)
            yield replace(one, written=node.name, refused=_AGAIN if times[node.name] > 1 else "")
        elif isinstance(node, Function) and node in own:
            yield _function(node, _candidate(node, node.name, file, dotted, plan_name, text), times[node.name])
        elif isinstance(node, ast.If | ast.Try):
            for inner in ast.walk(node):
                if isinstance(inner, Function):
                    why = "it is defined under a condition"
                    yield Candidate("", dotted, inner.name, file, inner.lineno, refused=why)


def _function(node: Function, one: Candidate, times: int) -> Candidate:
    why = _AGAIN if times > 1 else ""
    if not _NAME.match(node.name):
        why = "it is private" if node.name.startswith("_") else "its name is not in lower case ASCII"
    return replace(
        one, refused=why, parameters=tuple(parameters_of(node.args)), examples=tuple(_examples(one.doc)),
        lazy=is_lazy(node),
    )  # fmt: skip


def _candidate(node: _Defined, name: str, file: Path, dotted: str, plan_name: str, text: str) -> Candidate:
    """Return what a function and a class have of their text: its body is the statements without documentation."""
    first = min([node.lineno, *(d.lineno for d in node.decorator_list)])
    statements = node.body[1:] if ast.get_docstring(node) is not None else node.body
    return Candidate(
        id=f"{plan_name}.{name}", module=dotted, name=name, path=file, line=first,
        source="\n".join(text.split("\n")[first - 1 : node.end_lineno]), doc=ast.get_docstring(node) or "",
        body="\n".join(ast.unparse(statement) for statement in statements) or "pass",
    )  # fmt: skip


def _examples(doc: str) -> list[tuple[str, str]]:
    with suppress(ValueError):
        return [(e.source.strip(), e.want.strip()) for e in doctest.DocTestParser().get_examples(doc)]
    return []
