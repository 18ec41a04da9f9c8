"""What a text says in another writing: escapes, entities, Base64, hexadecimal digits, rot13, from behind."""

from __future__ import annotations

import codecs
import re
from base64 import b64decode
from collections.abc import Iterator
from functools import lru_cache
from urllib.parse import unquote

from llm_runtime.structs import Struct

_ESCAPE = re.compile(r"\\(?:u\{?([0-9a-fA-F]{4,6})\}?|x([0-9a-fA-F]{2})|(.)|$)", re.DOTALL)
_LETTERS = {"n": "\n", "t": "\t", "r": "\r", "b": "", "f": ""}
_BASE64 = re.compile(r"[A-Za-z0-9+/_-]{16,}+(?:\r?\n[A-Za-z0-9+/_-]{16,}+)*+={0,2}")
_HEX = re.compile(r"(?:(?:0x|\\x)?[0-9a-fA-F]{2}[ :,]{0,2}){12,}+")
_NOT_HEX = re.compile(r"0x|[^0-9a-fA-F]")
_LINES = re.compile(r"(?s:.{1,200}+)[^\n]*+")
_WRITTEN = re.compile(r"\\|&[#\w]{2,32}+;|%[0-9a-fA-F]{2}")
_DEPTH = 3


class Decoded(Struct):
    """A stretch of a text and what it says.

    Args:
        start, end: where the stretch stands.
        writing: ``escapes``, ``base64`` or ``hex``.
        text: what it says.
    """

    start: int
    end: int
    writing: str
    text: str


@lru_cache(maxsize=32)
def decoded(text: str) -> tuple[Decoded, ...]:
    """Return what stands in a text in another writing, in time linear in its length; nested up to three deep."""
    return tuple(_deeper(_stretches(text), _DEPTH))


def disguised(words: str) -> tuple[str, str]:
    """Return words as they would stand in a text in rot13, and from behind: what to look for, and what is read."""
    return codecs.encode(words, "rot13"), words[::-1]


def unescaped(text: str) -> str:
    """Return a text with its escapes read, those within escapes too."""
    while "\\" in text:
        text = _ESCAPE.sub(_character, text)
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _character(escape: re.Match[str]) -> str:
    digits = escape[1] or escape[2]
    if digits is None:
        return _LETTERS.get(escape[3], escape[3]) if escape[3] else ""
    code = int(digits, 16)
    return chr(code) if code < 0x110000 else ""


def _deeper(stretches: Iterator[Decoded], depth: int) -> Iterator[Decoded]:
    for one in stretches:
        yield one
        if depth > 1:
            inner = _deeper(_stretches(one.text), depth - 1)
            yield from (Decoded(one.start, one.end, one.writing, deep.text) for deep in inner)


def _stretches(text: str) -> Iterator[Decoded]:
    import html

    for match in _LINES.finditer(text):
        if _WRITTEN.search(match[0]):
            yield Decoded(*match.span(), "escapes", unescaped(html.unescape(unquote(match[0], errors="ignore"))))
    for match in _BASE64.finditer(text):
        digits = "".join(match[0].split()).rstrip("=").replace("-", "+").replace("_", "/")
        if words := _words(b64decode(digits[: len(digits) - (len(digits) % 4 == 1)] + "===")):
            yield Decoded(*match.span(), "base64", words)
    for match in _HEX.finditer(text):
        digits = _NOT_HEX.sub("", match[0])
        if words := _words(bytes.fromhex(digits[: len(digits) // 2 * 2])):
            yield Decoded(*match.span(), "hex", words)


def _words(data: bytes) -> str:
    """Return bytes as a text; an empty one where they are none."""
    text = data.decode("utf-8", "ignore")
    signs = sum(sign.isprintable() or sign.isspace() for sign in text)
    return text if len(text.encode()) * 10 >= len(data) * 9 and signs * 20 >= len(text) * 19 else ""
