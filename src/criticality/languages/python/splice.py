"""Putting a body into a skeleton so that nothing else can change (CT10).

Parse, replace, parse again; then the declarations must be the same in the same order, every signature and decorator
untouched, and every byte outside the body as it was.
"""

from __future__ import annotations

import ast
import textwrap

from criticality.bodies import BodyUnreadable, SpliceRefused, unfenced
from criticality.languages.python.skeleton import body_source


def read_body(answer: str, name: str) -> str:
    """Return the body in an answer: bare, behind a code fence, or inside the whole function.

    Raises:
        SpliceRefused: too long, or empty.
        BodyUnreadable: no statements.
    """
    text = unfenced(answer)
    whole = _whole_function(text, name)
    return whole if whole is not None else text


def _whole_function(text: str, name: str) -> str | None:
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    if len(tree.body) != 1 or not isinstance(function := tree.body[0], ast.FunctionDef) or function.name != name:
        return None
    first = function.body[0]
    lines = text.split("\n")
    if first.lineno == function.lineno:
        return None
    start = first.lineno - 1
    return "\n".join(lines[start : function.end_lineno])


def splice(source: str, name: str, body: str) -> str:
    """Return the module with the body of one top-level function replaced; its documentation stays.

    Raises:
        BodyUnreadable: the result does not parse.
        SpliceRefused: there is no such function, or the body reaches beyond it.
    """
    start, end = body_span(source, name)
    new_body = body_source(body)
    after = source[:start] + new_body + source[end:]
    try:
        ast.parse(f"def {name}():\n{new_body}")
        before_shape, after_shape = _shape(source), _shape(after)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as fault:
        raise BodyUnreadable(f"the body does not parse: {_fault_text(fault)}") from None
    if before_shape != after_shape:
        raise SpliceRefused("the body declares something outside its function, or changes a signature")
    new_start, new_end = body_span(after, name)
    if (after[:new_start], after[new_end:]) != (source[:start], source[end:]):
        raise SpliceRefused("the body changes text outside its function")
    return after


def body_span(source: str, name: str) -> tuple[int, int]:
    """Tell where the statements of a function stand, without its documentation, in characters; whole lines.

    Raises:
        BodyUnreadable: the module does not parse.
        SpliceRefused: there is no such function at the top level.
    """
    try:
        functions = [n for n in ast.parse(source).body if isinstance(n, ast.FunctionDef) and n.name == name]
    except (SyntaxError, ValueError, RecursionError, MemoryError) as fault:
        raise BodyUnreadable(f"the module does not parse: {_fault_text(fault)}") from None
    # Lines as Python counts them: ``str.splitlines`` ends a line at more characters than the newline.
    lines = [line for line in source.replace("\n", "\n\0").split("\0") if line]
    body = functions[0].body if len(functions) == 1 else []
    if not body or lines[(first := _line(body[0])) - 1].encode()[: body[0].col_offset].strip(b" \t@"):
        raise SpliceRefused(f"the module has no one function called {name}")
    begin = first - 1
    if len(body) > 1 and ast.get_docstring(functions[0]) is not None and _line(body[1]) > _end(body[0]):
        begin = _end(body[0])
    finish = _end(body[-1])
    # Comments that close the block belong to it: up to the next line without indentation.
    while finish < len(lines) and lines[finish].startswith((" ", "\t")) and lines[finish].strip():
        finish += 1
    return sum(map(len, lines[:begin])), sum(map(len, lines[:finish]))


def _line(statement: ast.stmt) -> int:
    """Return the line where a statement begins: with its decorators."""
    return min([statement.lineno, *(one.lineno for one in getattr(statement, "decorator_list", []))])


def _end(statement: ast.stmt) -> int:
    return statement.end_lineno or statement.lineno


def _shape(source: str) -> list[str]:
    """Return every top-level statement: functions without their bodies, all else in full."""
    shape: list[str] = []
    for node in ast.parse(source).body:
        if isinstance(node, ast.FunctionDef):
            decorators = [ast.unparse(d) for d in node.decorator_list]
            returns = ast.unparse(node.returns) if node.returns else ""
            shape.append(
                f"def {node.name}({ast.unparse(node.args)}) -> {returns} {decorators} {ast.get_docstring(node)!r}"
            )
        else:
            shape.append(ast.dump(node))
    return shape


def _fault_text(fault: BaseException) -> str:
    return f"{fault.msg} (line {fault.lineno})" if isinstance(fault, SyntaxError) else type(fault).__name__


def body_of(source: str, name: str) -> str:
    """Return the statements of a function as they stand, their indentation taken off."""
    start, end = body_span(source, name)
    return textwrap.dedent(source[start:end]).rstrip("\n")
