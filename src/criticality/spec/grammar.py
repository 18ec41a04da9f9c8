"""One page of grammar for whoever writes predicates, made from what the parser takes."""

from __future__ import annotations

import ast

from criticality.spec.predicates import ALLOWED, BUILTINS, MAX_DEPTH, MAX_LENGTH
from llm_runtime.prompts import load_prompt

_A, _B = ast.Name("a", ast.Load()), ast.Name("b", ast.Load())
#: One expression for each form that is no operator.
_FORMS = (
    "'a text'", "value.field", "items[0]", "items[1:-1]", "(a, b)", "[a, b]", "{a, b}", "{key: value}",
    "f(a, name=b)", "f(*items)", "a if c else b", "a < b <= c", "lambda item: item + 1",
    "all(x > 0 for x in items if x != 3)", "[x for x in items]", "{x for x in items}", "{k: 1 for k in items}",
)  # fmt: skip


def grammar() -> str:
    """Return the page: operators, forms and functions, each taken from the parser's own tables."""
    shown = (text for text in _FORMS if all(isinstance(n, ALLOWED) for n in ast.walk(ast.parse(text, mode="eval"))))
    return load_prompt("criticality", "grammar").render(
        longest=str(MAX_LENGTH),
        deepest=str(MAX_DEPTH),
        operators=" ".join(f"`{sign}`" for sign in dict.fromkeys(map(_sign, ALLOWED)) if sign),
        forms=", ".join(f"`{text}`" for text in shown),
        functions=" ".join(sorted(BUILTINS)),
    )


def _sign(kind: type[ast.AST]) -> str:
    """Return how an operator is written; empty for what is none."""
    node: ast.expr | None = None
    if issubclass(kind, ast.operator):
        node = ast.BinOp(_A, kind(), _B)
    elif issubclass(kind, ast.cmpop):
        node = ast.Compare(_A, [kind()], [_B])
    elif issubclass(kind, ast.boolop):
        node = ast.BoolOp(kind(), [_A, _B])
    elif issubclass(kind, ast.unaryop):
        node = ast.UnaryOp(kind(), _B)
    return ast.unparse(node).removeprefix("a ").removesuffix("b").strip() if node else ""
