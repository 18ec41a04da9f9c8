"""Count lines of code: no blanks, comments, docstrings or imports. `python -m tools.count_lines [FOLDER...]`."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

# Puzzles are the material of trials and demos are recordings: neither is code that we keep up.
_LEFT_OUT = {"puzzles", "demo"}
_STRING_OF_LINES = re.compile(rb"[A-Za-z]{0,2}(\"\"\"|''')")


def sources(folder: Path) -> Iterator[Path]:
    """Yield the modules below a folder that count."""
    return (path for path in sorted(folder.rglob("*.py")) if not _LEFT_OUT & set(path.relative_to(folder).parts))


def code_lines(source: str, nodes: Iterable[ast.AST]) -> int:
    """Return how many lines of a module hold code.

    Args:
        source: Its text.
        nodes: All nodes of its tree, as `ast.walk` gives them.
    """
    lines = source.encode().split(b"\n")
    held = {at for at, line in enumerate(map(bytes.strip, lines), 1) if line and not line.startswith(b"#")}
    left_out: set[int] = set()
    for node in nodes:
        kind = type(node)
        if kind is ast.Constant or kind is ast.JoinedStr:
            # Within one, blank lines and what looks like a comment are text.
            if node.end_lineno > node.lineno and _STRING_OF_LINES.match(lines[node.lineno - 1], node.col_offset):
                held.update(range(node.lineno, node.end_lineno + 1))
        elif kind is ast.Import or kind is ast.ImportFrom:
            left_out.update(range(node.lineno, node.end_lineno + 1))
        elif kind in (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef):
            # Docstrings of attributes are text too, so every bare string counts as one.
            for one in (statement for statement in node.body if isinstance(statement, ast.Expr)):
                if isinstance(one.value, ast.Constant) and isinstance(one.value.value, str):
                    left_out.update(range(one.lineno, one.end_lineno + 1))
    return len(held - left_out)


def main(folders: list[str]) -> None:
    """Print a line for each package, and the sum."""
    total = 0
    for folder in folders or sorted(str(path.parent) for path in Path("src").glob("*/__init__.py")):
        texts = [path.read_text(encoding="utf-8") for path in sources(Path(folder))]
        lines = sum(code_lines(text, ast.walk(ast.parse(text))) for text in texts)
        total += lines
        print(f"{lines:7,}  {folder}")
    print(f"{total:7,}")


if __name__ == "__main__":
    main(sys.argv[1:])
