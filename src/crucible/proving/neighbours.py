"""Tests beside a witness: its own calls with other literals, which tell what they answer and judge nothing."""

from __future__ import annotations

import ast
import random

_MOST = 20


def neighbours(test: str) -> str:
    """Return a test file in which each test of a witness stands again with other literals; empty where it has none.

    A test of it always fails, with what was answered as its message.
    """
    tree = ast.parse(test)
    draw = random.Random(test)
    made: list[ast.stmt] = []
    for node in tree.body:
        tests = [node] if isinstance(node, ast.FunctionDef) else node.body if isinstance(node, ast.ClassDef) else []
        mine = [one for one in tests if isinstance(one, ast.FunctionDef) and one.name.startswith("test")]
        if not mine:
            made.append(node)
        for one in mine if len(mine) == len(tests) else ():
            made += [other for number in range(_MOST // len(mine)) if (other := _varied(one, number, draw))]
    return ast.unparse(ast.fix_missing_locations(ast.Module(made, []))) if len(made) > 0 else ""


def _varied(test: ast.FunctionDef, number: int, draw: random.Random) -> ast.FunctionDef | None:
    copy = ast.parse(ast.unparse(test)).body[0]
    assert isinstance(copy, ast.FunctionDef)
    varying = _Varying(draw)
    copy.body = [varying.visit(one) for one in copy.body]
    if not varying.changed or not varying.told:
        return None
    copy.name = f"{test.name}_{number}"
    copy.body = [
        ast.parse("_told = []").body[0],
        *copy.body,
        ast.parse("raise AssertionError(repr(_told))").body[0],
    ]
    return copy


class _Varying(ast.NodeTransformer):
    """Varies literals outside of what is expected; what is asserted is told instead."""

    def __init__(self, draw: random.Random) -> None:
        self.draw, self.changed, self.told = draw, False, False

    def visit_Assert(self, node: ast.Assert) -> ast.stmt:
        asked = node.test.left if isinstance(node.test, ast.Compare) else node.test
        self.told = True
        return ast.Expr(
            ast.Call(
                ast.Attribute(ast.Name("_told"), "append"),
                [ast.Call(ast.Name("repr"), [self.visit(asked)], [])],
                [],
            )
        )

    def visit_With(self, node: ast.With) -> ast.stmt:
        if "raises" not in ast.unparse(node.items[0].context_expr):
            return ast.With(node.items, [self.visit(one) for one in node.body])
        self.told = True
        body = [self.visit(one) for one in node.body]
        caught = ast.parse(
            "try:\n pass\nexcept Exception as fault:\n _told.append(type(fault).__name__)\nelse:\n _told.append('')"
        ).body[0]
        assert isinstance(caught, ast.Try)
        return ast.Try(body, caught.handlers, caught.orelse, [])

    def visit_Expr(self, node: ast.Expr) -> ast.stmt:
        call = node.value
        if (
            isinstance(call, ast.Call)
            and isinstance(call.func, ast.Attribute)
            and call.func.attr.startswith("assert")
            and call.args
        ):
            return self.visit_Assert(ast.Assert(call.args[0]))
        self.told = True
        return self.generic_visit(node)  # pyright: ignore[reportReturnType] - it stays a statement

    def visit_Constant(self, node: ast.Constant) -> ast.expr:
        value = node.value
        other: object = value
        match value:
            case bool() | None:
                pass
            case int():
                other = self.draw.choice((value - 1, value + 1, value + 2, 2 * value, max(value - 3, 0), value + 7))
            case float():
                other = self.draw.choice((value / 2, value * 2, value + 1))
            case str() if value:
                at = self.draw.randrange(len(value))
                other = self.draw.choice(
                    (value + value[-1], value[:at] + value[at + 1 :], value[:at] + value[at:][::-1], value * 2)
                )
            case _:
                pass
        self.changed |= other != value
        return ast.Constant(other)
