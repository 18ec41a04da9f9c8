"""Each regular expression of the project ends soon on long texts made of its own parts (THREATS.md)."""

from __future__ import annotations

import ast
import importlib
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
#: Those that are given 300 characters at most.
SLOW = ("src/crux/sources/forms.py:21", "crux.sources.forms._WROTE")
CALLS = {"compile", "match", "search", "fullmatch", "sub", "subn", "split", "findall", "finditer"}


def in_letters(pattern: str | bytes, flags: int) -> tuple[str, int]:
    """Return an expression over bytes as the one over letters that takes as long."""
    return (pattern, flags) if isinstance(pattern, str) else (pattern.decode("latin-1"), flags | re.ASCII)


def modules() -> Iterator[tuple[Path, ast.Module]]:
    for path in sorted((ROOT / "src").rglob("*.py")):
        # The defects of puzzles are the point.
        if "puzzles" not in path.parts:
            yield path, ast.parse(path.read_text(encoding="utf-8"))


def called(tree: ast.Module) -> set[tuple[str, str]]:
    """Return what is called of what name: ``("_WORD", "match")``."""
    return {
        (node.func.value.id, node.func.attr)
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and isinstance(node.func.value, ast.Name)
    }


def way_of(name: str, used: set[tuple[str, str]], otherwise: str = "search") -> str:
    """Return how the expression of a name is used; as ``search`` where that is not one way alone."""
    ways = {way for one, way in used if one == name} & CALLS or {otherwise}
    return next((one for one in ("search", "fullmatch", "match") if ways == {one}), "search")


def literals(path: Path, tree: ast.Module) -> Iterator[tuple[str, str, int, str]]:
    """Yield where each literal expression stands, itself, its flags and how it is used."""
    compiled = {
        node.targets[0].id: node.value
        for node in tree.body
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)
    }
    used = called(tree)
    names = {id(value): name for name, value in compiled.items()}
    for node in ast.walk(tree):
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.args):
            continue
        of, first = node.func.value, node.args[0]
        if not (isinstance(of, ast.Name) and of.id == "re" and node.func.attr in CALLS):
            continue
        if isinstance(first, ast.Constant) and isinstance(first.value, (str, bytes)):
            way = way_of(names.get(id(node), ""), used, node.func.attr)
            named = {one.attr for one in ast.walk(node) if isinstance(one, ast.Attribute) and one.attr.isupper()}
            flags = sum(int(getattr(re, one)) for one in named if hasattr(re, one))
            yield f"{path.relative_to(ROOT)}:{node.lineno}", *in_letters(first.value, flags), way


def put_together(path: Path, tree: ast.Module) -> Iterator[tuple[str, str, int, str]]:
    """Yield the expressions that a module makes of parts, where its constants hold them."""
    makes = any(isinstance(node, ast.Attribute) and node.attr == "compile" for node in ast.walk(tree))
    parts = path.relative_to(ROOT / "src").with_suffix("").parts
    if not makes or "grading" in parts or "support" in parts or path.stem in ("__main__", "supervisor"):
        return
    try:
        module = importlib.import_module(".".join(parts).removesuffix(".__init__"))
    except ImportError:
        return
    used = called(tree)
    for name, value in vars(module).items():
        # What other modules see may be used in another way there.
        way = way_of(name, used) if name.startswith("_") else "search"
        for number, one in enumerate(value if isinstance(value, (tuple, list)) else [value]):
            words = getattr(one, "words", one)  # of a row of a table
            if isinstance(words, re.Pattern):
                of = in_letters(words.pattern, words.flags & ~re.UNICODE)
                yield f"{module.__name__}.{name}[{number}]", *of, way


@pytest.mark.long
def test_no_expression_explodes_on_texts_of_its_own_parts() -> None:
    found: dict[tuple[str, int], list[Any]] = {}
    for path, tree in modules():
        for where, pattern, flags, way in [*literals(path, tree), *put_together(path, tree)]:
            if not where.startswith(SLOW):
                found.setdefault((pattern, flags), [where, pattern, flags, way])
    assert len(found) > 250
    lines = "".join(json.dumps(one) + "\n" for one in found.values())
    script = [sys.executable, str(ROOT / "tests" / "pumped.py")]
    tried = subprocess.run(script, input=lines, capture_output=True, text=True, check=True)
    assert tried.stdout == "", tried.stdout
