"""Putting a body into a skeleton so that nothing else can change (CT10).

Parse, replace, parse again; then the declarations must be the same in the same order, every signature and decorator
untouched, and every byte outside the body as it was.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from criticality.bodies import BodyUnreadable, SpliceRefused, unfenced
from criticality.languages.python.skeleton import body_source

if TYPE_CHECKING:
    import libcst as cst


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
        SpliceRefused: there is no such function at the top level.
    """
    import libcst as cst
    from libcst.metadata import MetadataWrapper, PositionProvider

    above, text = _alone(source, name)
    try:
        wrapper = MetadataWrapper(cst.parse_module(text), unsafe_skip_copy=True)
    except (cst.ParserSyntaxError, RecursionError) as fault:
        raise BodyUnreadable(f"the module does not parse: {_fault_text(fault)}") from None
    positions = wrapper.resolve(PositionProvider)
    functions = [node for node in wrapper.module.body if isinstance(node, cst.FunctionDef)]
    if len(functions) != 1 or not isinstance(functions[0].body, cst.IndentedBlock):
        raise SpliceRefused(f"the module has no one function called {name}")
    statements = functions[0].body.body
    first = statements[1] if _is_docstring(statements[0]) and len(statements) > 1 else statements[0]
    lines = _lines(source)
    begin = positions[statements[0]].end.line if first is not statements[0] else positions[first].start.line - 1
    begin, finish = above + begin, above + positions[statements[-1]].end.line
    # Comments that close the block belong to it: up to the next line without indentation.
    while finish < len(lines) and lines[finish].startswith((" ", "\t")) and lines[finish].strip():
        finish += 1
    return sum(map(len, lines[:begin])), sum(map(len, lines[:finish]))


def _alone(source: str, name: str) -> tuple[int, str]:
    """Return the lines of the one top-level function of that name, and how many stand above them."""
    try:
        functions = [n for n in ast.parse(source).body if isinstance(n, ast.FunctionDef) and n.name == name]
    except (SyntaxError, ValueError, RecursionError, MemoryError) as fault:
        raise BodyUnreadable(f"the module does not parse: {_fault_text(fault)}") from None
    if len(functions) != 1:
        raise SpliceRefused(f"the module has no one function called {name}")
    above = functions[0].lineno - 1
    return above, "".join(_lines(source)[above : functions[0].end_lineno])


def _lines(source: str) -> list[str]:
    """Return lines as Python counts them: ``str.splitlines`` ends a line at more characters than the newline."""
    return [line for line in source.replace("\n", "\n\0").split("\0") if line]


def _is_docstring(statement: cst.BaseStatement) -> bool:
    import libcst as cst

    return (
        isinstance(statement, cst.SimpleStatementLine)
        and len(statement.body) == 1
        and isinstance(statement.body[0], cst.Expr)
        and isinstance(statement.body[0].value, cst.SimpleString)
    )


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
    import textwrap

    start, end = body_span(source, name)
    return textwrap.dedent(source[start:end]).rstrip("\n")
