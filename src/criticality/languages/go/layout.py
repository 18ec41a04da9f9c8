"""Function literals laid out as gofmt has them: on one line while they are short, else a statement a line."""

from __future__ import annotations

import re
from collections.abc import Iterator

_SHORT = 100
_LITERAL = re.compile(r"\bfunc\b[^{}\n]*?(?:struct\{\}[^{}\n]*?|map\[[^{}\n]*?)*\{ ")
_TEXT = re.compile(r'"(?:\\.|[^"\\\n])*"')


def laid_out(code: str) -> str:
    """Code whose literals stand on one line each, however long, as gofmt would write it."""
    return "\n".join(_line(line) if "func" in line and "{ " in line else line for line in code.split("\n"))


def _line(line: str) -> str:
    indent = len(line) - len(line.lstrip("\t"))
    return "\t" * indent + _broken(line.lstrip("\t"), indent)


def _broken(text: str, indent: int) -> str:
    """Return the text with every literal that is too long taken apart, from the outside in."""
    hidden = _TEXT.sub(lambda literal: "_" * len(literal[0]), text)
    match = _LITERAL.search(hidden)
    if match is None:
        return text
    end = _closing(hidden, match.end() - 2)
    body = text[match.end() : end].strip()
    header = match.end() - 2 - match.start() - 1
    if header + len(body) <= _SHORT:
        return text[: end + 1] + _broken(text[end + 1 :], indent)
    tabs = "\n" + "\t" * (indent + 1)
    statements = tabs.join(_broken(statement, indent + 1) for statement in _statements(body))
    rest, closing = _broken(text[end + 1 :], indent), "\t" * indent
    return f"{text[: match.end() - 1]}{tabs}{statements}\n{closing}}}{rest}"


def _closing(hidden: str, opening: int) -> int:
    depth = 0
    for place in range(opening, len(hidden)):
        depth += {"{": 1, "}": -1}.get(hidden[place], 0)
        if depth == 0:
            return place
    return len(hidden) - 1


def _statements(body: str) -> Iterator[str]:
    """Yield the statements of a body, which semicolons part."""
    hidden = _TEXT.sub(lambda match: "_" * len(match[0]), body)
    depth = begun = 0
    for place, char in enumerate(hidden):
        depth += (char in "({[") - (char in ")}]")
        if char == ";" and depth == 0:
            yield body[begun:place].strip()
            begun = place + 1
    yield body[begun:].strip()
