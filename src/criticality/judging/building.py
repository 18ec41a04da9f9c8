"""One build for many bodies: which of them does not compile, and the program without it."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping

#: What a compiler says, and where: ``file:line[:column]: word``, or Rust's arrow.
_PLACE = re.compile(r"^(?:\s*--> )?([^\s:]+):(\d+)(?::\d+)?(?::[ \t]*(\w*)|$)", re.MULTILINE)
_BEGIN, _END = "// body {}", "// end of body {}"
_MARK = re.compile(r"^\s*// body (\d+)$")
_NO_ERRORS = ("note", "warning", "remark")


def marked(body: str, number: int) -> str:
    """Return a body between the marks by which it is found again; the comments are those of the C family."""
    return "\n".join([_BEGIN.format(number), body, _END.format(number)])


def faulty(files: Mapping[str, str], output: str) -> set[int]:
    """Return the numbers of the bodies in which a compiler reports errors."""
    numbers: set[int] = set()
    for path, line, word in _PLACE.findall(output):
        lines = files.get(posixpath.normpath(path), "").splitlines()[: int(line)]
        if word in _NO_ERRORS:
            continue
        for text in reversed(lines):
            mark = _MARK.match(text)
            if mark is not None:
                numbers.add(int(mark[1]))
            if mark is not None or (text.strip().startswith("// end of body") and text != lines[-1]):
                break
    return numbers


def without(text: str, numbers: set[int], todo: str) -> str:
    """Return a file in which some bodies are still to do."""
    for number in numbers:
        begin, end = re.escape(_BEGIN.format(number)), re.escape(_END.format(number))
        text = re.sub(rf"(?ms)^([ \t]*){begin}$.*?^[ \t]*{end}$", lambda m: f"{m[1]}{todo}", text)
    return text
