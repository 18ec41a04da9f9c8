"""Programs that serve bodies, one build for many: which body does not compile, and the program without it."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping
from dataclasses import field
from pathlib import Path

from llm_runtime.structs import Struct

#: What a compiler says, and where: ``file:line[:column]: word``, or Rust's arrow.
_PLACE = re.compile(r"^(?:[^\S\n]*--> )?([^\s:]+):(\d+)(?::\d+)?(?::[ \t]*(\w*)|$)", re.MULTILINE)
_BEGIN, _END = "// body {}", "// end of body {}"
_MARK = re.compile(r"^\s*// body (\d+)$")
_NO_ERRORS = ("note", "warning", "remark")


class ServedProgram(Struct):
    """What a language makes of bodies: a program that serves each of their variants.

    Args:
        command: the program and its arguments; it runs in the folder of ``files``; the variant's number comes last.
        files: texts by path, below a folder that is made for them.
        build: commands that run there first, in a box without network in which that folder can be written.
        read_only: what it reads besides the system's own folders: compilers, caches, the interpreter.
        environment: all of its variables.
        confined: it starts no process and opens no socket; for programs that cannot seal themselves.
        memory: bytes of address space; 0 leaves that to the program's own flags.
        shared: folders that its build writes to besides: a compiler's cache.
        todo: a statement that says that a body is still to do: what stands for one that does not compile.
        counted: what the answer to a name with ``#work`` behind it counts: ``steps`` or ``nanoseconds``.
        bits: of a whole number beside its sign; 0 where it may have any.
        longest: items of what its functions are given: of those that give the first of many, fewer.
        solver: a command that is asked for calls that break a contract; none where :attr:`solved_by` is not here.
        solved_by: its name for people; empty where the language has none.
    """

    command: tuple[str, ...]
    files: dict[str, str]
    build: tuple[tuple[str, ...], ...] = ()
    read_only: tuple[Path, ...] = ()
    environment: dict[str, str] = field(default_factory=dict[str, str])
    confined: bool = False
    memory: int = 1 << 29
    shared: tuple[Path, ...] = ()
    todo: str = ""
    counted: str = "nanoseconds"
    bits: int = 63
    longest: int = 300
    solver: tuple[str, ...] = ()
    solved_by: str = ""


class BuildFailed(Exception):
    """The program could not be built; the compiler's words are the message."""


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
