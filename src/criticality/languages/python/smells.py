"""Finding smells in Python: ruff for what it has rules for, the tree for the rest."""

from __future__ import annotations

import ast
import json
import sys
from collections.abc import Iterator, Mapping

from criticality.catalog import DetectedSmell, smells
from criticality.judging.served import BUILDING, interpreter
from criticality.languages.base.grammar.smells import too_much
from sandbox import Order, Root, run

_BLOCKS = (ast.If, ast.For, ast.While, ast.With, ast.Try, ast.Match)


async def detect(modules: Mapping[str, str]) -> tuple[list[DetectedSmell], dict[str, dict[str, int]]]:
    """Smells, and complexity, length and nesting of each function.

    Args:
        modules: source by module name.

    Returns:
        smells in the order of the modules and their functions; metrics by ``module.function``.
    """
    detected: list[DetectedSmell] = []
    metrics: dict[str, dict[str, int]] = {}
    for module, source in modules.items():
        lint = await _ruff(source)
        for node in ast.parse(source).body:
            if not isinstance(node, ast.FunctionDef) or node.name.startswith("_"):
                continue
            name = f"{module}.{node.name}"
            lines = _code_lines(node)
            measured = {"complexity": _complexity(node), "length": lines, "nesting": nesting(node)}
            metrics[name] = measured
            detected += _of_function(name, node, source, measured, lint)
    return detected, metrics


def nesting(function: ast.FunctionDef) -> int:
    """Tell how deep blocks stand in each other; an ``elif`` is no deeper than its ``if``."""
    return _depth(function.body, 0)


def _depth(statements: list[ast.stmt], level: int) -> int:
    deepest = level
    for one in (statement for statement in statements if isinstance(statement, _BLOCKS)):
        parts: list[list[ast.stmt]] = [getattr(one, name, []) for name in ("body", "orelse", "finalbody")]
        parts += [part.body for part in (*getattr(one, "handlers", []), *getattr(one, "cases", []))]
        for inner in filter(None, parts):
            last = isinstance(one, ast.If) and inner is one.orelse
            chained = last and len(inner) == 1 and isinstance(inner[0], ast.If)
            deepest = max(deepest, _depth(inner, level + (not chained)))
    return deepest


def _code_lines(node: ast.FunctionDef) -> int:
    body = node.body[1:] if ast.get_docstring(node) is not None and len(node.body) > 1 else node.body
    return (body[-1].end_lineno or body[-1].lineno) - body[0].lineno + 1


def _of_function(
    name: str, node: ast.FunctionDef, source: str, measured: dict[str, int], lint: list[tuple[str, int]]
) -> Iterator[DetectedSmell]:
    yield from too_much(name, measured)
    first, last = node.lineno, node.end_lineno or node.lineno
    for smell in smells().values():
        rules = {rule for tool, rule in smell.tools if tool == "ruff"}
        count = sum(1 for rule, line in lint if rule in rules and first <= line <= last)
        if count:
            yield DetectedSmell(smell.id, name, float(count))
    dead = sum(1 for block in _blocks(node) for s in block[:-1] if isinstance(s, ast.Return | ast.Raise))
    if dead:
        yield DetectedSmell("unreachable-code", name, float(dead))
    comments = sum(1 for line in source.splitlines()[first - 1 : last] if line.strip().startswith("#"))
    if comments / measured["length"] > smells()["over-documentation"].threshold:
        yield DetectedSmell("over-documentation", name, comments / measured["length"])


def _blocks(node: ast.AST) -> Iterator[list[ast.stmt]]:
    for inner in ast.walk(node):
        for name in ("body", "orelse", "finalbody"):
            block = getattr(inner, name, None)
            if isinstance(block, list):
                yield block


def _complexity(function: ast.FunctionDef) -> int:
    """Return one more than the decisions of a function (McCabe 1976), without those of functions inside it."""
    count, todo = 1, list[ast.AST](function.body)
    while todo:
        match node := todo.pop():
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                continue
            case ast.Assert():
                count += 1
                continue
            case ast.If() | ast.IfExp():
                count += 1
            case ast.For() | ast.While() | ast.AsyncFor():
                count += 1 + bool(node.orelse)
            case ast.BoolOp():
                count += len(node.values) - 1
            case ast.Try():
                count += len(node.handlers) + bool(node.orelse)
            case ast.comprehension():
                count += 1 + len(node.ifs)
            case ast.Match():
                # A case that takes whatever comes is no decision.
                last = (getattr(case.pattern, "pattern", case) is None for case in node.cases)
                count += len(node.cases) - any(last)
            case _:
                pass
        todo += ast.iter_child_nodes(node)
    return count


async def _ruff(source: str) -> list[tuple[str, int]]:
    """Rule and line of each finding; none where ruff is not installed."""
    rules = sorted({rule for smell in smells().values() for tool, rule in smell.tools if tool == "ruff"})
    words = (sys.executable, "-m", "ruff", "check", "--isolated", "--no-cache", "--output-format", "json")
    order = Order(
        (*words, "--exit-zero", "--select", ",".join(rules), "-"), BUILDING, root=Root(whole=True),
        environment={"PATH": "/usr/bin:/bin"}, readable=tuple(interpreter()), python=sys.executable,
    )  # fmt: skip
    done = await run(order, stdin=source.encode(), apart=True)
    if done.code != 0:
        return []
    return [(item["code"], item["location"]["row"]) for item in json.loads(done.stdout)]
