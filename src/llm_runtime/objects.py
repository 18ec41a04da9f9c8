"""Where JSON objects stand in a text: whole ones decoded, broken ones marked, in time linear in its length."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from pydantic_core import from_json

from llm_runtime.behaviour import RUNTIME
from llm_runtime.structs import Struct

#: A brace that may open an object; any other stands in prose.
_START = re.compile(r"\{\s*+(?:[\"'}]|\w++\s*+:)")
_TOKEN = re.compile(r'[ \t\r\n]*+(?:([{}\[\]:,"])|(?:-?\d[\d.eE+-]*+|true|false|null)\b)')
_REST_OF_STRING = re.compile(r'(?:[^"\\]++|\\.)*+"', re.DOTALL)
_BRACE = re.compile(r"[{}]")

# Which tokens may come next, each by its first character; 0 is a number or a word like true.
_VALUE = '"0{['
_KEY = '"'
_FIRST_KEY = '"}'


class FoundObject(Struct):
    """An object in a text.

    Args:
        start: its first character.
        end: behind its last one.
        data: what it holds; ``None`` where its JSON is broken.
    """

    start: int
    end: int
    data: dict[str, Any] | None


class Objects:
    """The objects of a text, outermost ones only.

    Args:
        text: the text.
        inside_broken: whether to look on within an object whose JSON is broken. Else what it holds belongs to it,
            as far as its braces say.
    """

    def __init__(self, text: str, *, inside_broken: bool = False) -> None:
        self._text = text
        self._ends = dict[int, int]() if inside_broken else dict(_pairs(text))
        #: A string that begins from here on is never closed: scanning for its end once is enough.
        self._unclosed = len(text) + 1

    def __iter__(self) -> Iterator[FoundObject]:
        """Yield them in order. One that nothing closes is given once, the first, and what follows is looked at."""
        text, at, open_ended = self._text, 0, False
        while (opening := _START.search(text, at)) is not None:
            start = opening.start()
            end, at = self._read(start)
            if end:
                yield FoundObject(start, end, _decoded(text[start:end]))
            elif start in self._ends:
                at = self._ends[start]
                yield FoundObject(start, at, None)
            elif not open_ended:
                open_ended = True
                fence = text.find("\n```", start)
                yield FoundObject(start, len(text) if fence < 0 else fence, None)

    def _read(self, start: int) -> tuple[int, int]:
        """Read an object by JSON's grammar; return its end, or 0, and where to look for the next one."""
        closers, wanted, at, resume = list[str](), "{", start, start
        while (token := _TOKEN.match(self._text, at)) is not None:
            kind = token[1] or "0"
            if kind not in wanted:
                break
            at = resume = token.end()
            if kind == '"':
                # Where this turns out to be no string of this object, an object may begin with it.
                at = self._string_end(at)
                if not at:
                    break
                wanted = ":" if wanted in (_KEY, _FIRST_KEY) else "," + closers[-1]
            elif kind in "{[":
                closers.append("}" if kind == "{" else "]")
                wanted = _FIRST_KEY if kind == "{" else _VALUE + "]"
            elif kind == ":":
                wanted = _VALUE
            elif kind == ",":
                wanted = _KEY if closers[-1] == "}" else _VALUE
            else:
                if kind in "}]":
                    closers.pop()
                    if not closers:
                        return at, at
                wanted = "," + closers[-1]
        return 0, resume

    def _string_end(self, at: int) -> int:
        if at < self._unclosed:
            rest = _REST_OF_STRING.match(self._text, at)
            if rest is not None:
                return rest.end()
            # The backslashes further on are the same for whoever begins there.
            self._unclosed = at
        return 0


def _pairs(text: str) -> Iterator[tuple[int, int]]:
    """Yield where each brace stands and the place behind the one that closes it, strings not respected."""
    opened: list[int] = []
    for brace in _BRACE.finditer(text):
        if brace[0] == "{":
            opened.append(brace.start())
        elif opened:
            yield opened.pop(), brace.end()


def _decoded(text: str) -> dict[str, Any] | None:
    try:
        return from_json(text)
    except ValueError:
        if "\\u" not in text or RUNTIME.before(3):
            return None
    with suppress(ValueError, RecursionError):
        # Half of a character is an escape to a model, and a fault to the parser.
        halves = json.dumps(json.loads(text), ensure_ascii=False).encode("utf-16", "surrogatepass")
        return from_json(halves.decode("utf-16", "replace"))
    return None
