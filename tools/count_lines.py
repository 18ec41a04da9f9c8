"""Count lines of code: no blanks, comments, docstrings or imports. `python tools/count_lines.py [FOLDER...]`."""

from __future__ import annotations

import ast
import io
import sys
import tokenize
from pathlib import Path

_NO_CODE = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}


def code_lines(source: str) -> int:
    """Return how many lines of a module hold code."""
    left_out: set[int] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import | ast.ImportFrom):
            left_out.update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
        body = getattr(node, "body", None)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) and body:
            # Docstrings of attributes are text too, so every bare string counts as one.
            for one in body:
                if (
                    isinstance(one, ast.Expr)
                    and isinstance(one.value, ast.Constant)
                    and isinstance(one.value.value, str)
                ):
                    left_out.update(range(one.lineno, (one.end_lineno or one.lineno) + 1))
    held: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type not in _NO_CODE:
            held.update(range(token.start[0], token.end[0] + 1))
    return len(held - left_out)


def main(folders: list[str]) -> None:
    """Print a line for each package, and the sum."""
    total = 0
    for folder in folders or sorted(str(path.parent) for path in Path("src").glob("*/__init__.py")):
        files = [path for path in Path(folder).rglob("*.py") if "puzzles" not in path.parts]
        lines = sum(code_lines(path.read_text(encoding="utf-8")) for path in files)
        total += lines
        print(f"{lines:7,}  {folder}")
    print(f"{total:7,}")


if __name__ == "__main__":
    main(sys.argv[1:])
