"""Tries one regular expression of each line of standard input on long texts made of its own parts.

A process of its own with a bound on its processor time: a pattern that explodes ends it.
"""

from __future__ import annotations

import json
import re
import signal
import sys
from re import _constants as codes  # pyright: ignore[reportAttributeAccessIssue]
from re import _parser as parser  # pyright: ignore[reportAttributeAccessIssue]
from typing import Any

#: Characters of a text, and seconds of a processor that a pattern may take for it.
LENGTH, SECONDS = 100_000, 1
WORDS = ("a", " ", "\n", "1", "-", ".", '"', "(", "<", "\\", "#", "a ", "1.", "a\n", " \n", "a.b ", "é")


def parts(pattern: str, flags: int) -> tuple[set[str], set[str]]:
    """Return texts that the pattern's pieces stand for (literals, members, runs), and what leads to its repeats."""
    found: set[str] = set()
    heads: set[str] = set()

    def walk(tree: Any, behind: str = "") -> str:
        run = ""
        for code, value in tree:
            one = ""
            if code in (codes.LITERAL, codes.NOT_LITERAL):
                one = chr(value) if code is codes.LITERAL else "a"
            elif code is codes.IN:
                one = member(value)
            elif code is codes.ANY:
                one = "a"
            elif code in (codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT):
                heads.add(behind + run)
                one = walk(value[2], behind + run)
            elif code is codes.SUBPATTERN:
                one = walk(value[3], behind + run)
            elif code is codes.ATOMIC_GROUP:
                one = walk(value, behind + run)
            elif code is codes.BRANCH:
                one = [walk(branch, behind + run) for branch in value[1]][-1]
            elif code in (codes.ASSERT, codes.ASSERT_NOT):
                walk(value[1])
            if one:
                found.add(one)
            run += one
        if run:
            found.add(run)
        return run

    def member(inside: Any) -> str:
        for code, value in inside:
            if code is codes.LITERAL:
                return chr(value)
            if code is codes.RANGE:
                return chr(value[0])
            if code is codes.CATEGORY:
                return {codes.CATEGORY_DIGIT: "1", codes.CATEGORY_SPACE: " "}.get(value, "a")
        return "a"

    walk(parser.parse(pattern, flags))
    return found, heads


def pumped(pattern: str, flags: int) -> list[str]:
    """Return texts of ``LENGTH`` characters."""
    found, before = parts(pattern, flags)
    own = sorted(found, key=lambda one: (len(one), one))[:12]
    longest = sorted(found, key=len)[-1:]
    units = [unit for unit in dict.fromkeys([*own, *longest, *before, *WORDS]) if unit]
    texts = [unit * (LENGTH // len(unit)) for unit in units]
    # What begins like a match, goes on for long, and ends unlike one.
    heads = dict.fromkeys([*longest, *sorted(before, key=len)])
    return [*texts, *(f"{head}{unit * (LENGTH // len(unit))}\0" for head in heads for unit in units)]


def main() -> None:
    """Read ``[where, pattern, flags, whole]``; write the place of each pattern that took too long."""

    def late(*_: object) -> None:
        raise TimeoutError

    signal.signal(signal.SIGPROF, late)
    for line in sys.stdin:
        where, pattern, flags, method = json.loads(line)
        compiled: Any = re.compile(pattern, flags)
        try:
            for text in pumped(pattern, flags):
                signal.setitimer(signal.ITIMER_PROF, SECONDS)
                if method == "fullmatch":
                    compiled.fullmatch(text)
                elif method == "match":
                    compiled.match(text)
                else:
                    for _ in compiled.finditer(text):
                        pass
            signal.setitimer(signal.ITIMER_PROF, 0)
        except TimeoutError:
            print(json.dumps([where, pattern]), flush=True)


if __name__ == "__main__":
    main()
