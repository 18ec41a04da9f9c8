"""The one writer that strips what could steer a terminal or a reader's eye from text that is not ours."""

from __future__ import annotations

import re
import unicodedata

from llm_runtime.toml import own_table

_BACKTICKS = re.compile("`+")
_BELL, _ESC, _STRING_END = "\x07", "\x1b", "\x9c"

# Whole sequences first, so that their letters do not stay behind as litter. A string sequence (OSC, DCS, SOS,
# PM, APC) without its end loses only its introducer: it must not swallow the rest of the text.
_SEQUENCE = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]*+[ -/]*+[@-~]"
    r"|(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])[^\x07\x1b\x90\x98\x9c-\x9f]*+(?:\x07|\x1b\\|\x9c)"
    r"|\x1b[ -/]*+[0-Z\\^-~]"
)


_STRETCHES: list[tuple[int, int]] = own_table("assay.report", "dropped.toml")["dropped"]
_DROPPED = {sign: None for first, last in _STRETCHES for sign in range(first, last + 1)}
_SURROGATES = dict.fromkeys(range(0xD800, 0xE000), "\ufffd")
_TABLE: dict[int, str | None] = {**_DROPPED, **_SURROGATES}
_ISOLATES = re.compile("[\u2066-\u2069]")
_JOINERS = re.compile("[\u200c\u200d]")
#: Letters without case, their marks, and signs: between two of these a joiner is spelling, or part of an emoji.
_JOINED = ("Lo", "Mn", "Mc", "So", "Sk")


def clean(text: str) -> str:
    """Return ``text`` without control, bidirectional and zero-width control characters.

    What spells stays: single joiners between letters of scripts that need them and within emoji, and isolates that
    are closed on their line. Tabs and line ends stay; each kind of line end becomes ``\\n``. A cleaned text stays
    as it is when cleaned again.
    """
    if text.isascii() and text.isprintable():
        return text
    text = text.replace("\r\n", "\n").replace("\r", "\n").replace("\u2028", "\n").replace("\u2029", "\n")
    text = _SEQUENCE.sub("", text).translate(_TABLE)
    if _ISOLATES.search(text):
        text = "\n".join(map(_closed, text.split("\n")))
    return _JOINERS.sub(lambda joiner: joiner[0] if _spells(text, joiner.start()) else "", text)


def _closed(line: str) -> str:
    """Return a line without isolates that nothing closes, or that close nothing."""
    opened, kept = list[int](), set[int]()
    for sign in _ISOLATES.finditer(line):
        if sign[0] != "\u2069":
            opened.append(sign.start())
        elif opened:
            kept |= {opened.pop(), sign.start()}
    return _ISOLATES.sub(lambda sign: sign[0] if sign.start() in kept else "", line)


def _spells(text: str, at: int) -> bool:
    around = text[max(at - 1, 0) : at], text[at + 1 : at + 2]
    return all(sign and unicodedata.category(sign) in _JOINED for sign in around)


def one_line(text: str, width: int | None = None) -> str:
    """Return ``text`` cleaned, on one line, cut to ``width`` characters (2 or more) with an ellipsis."""
    line = " ".join(clean(text).split())
    return clean(line[: width - 1].rstrip()) + "…" if width is not None and len(line) > width else line


def label(text: str) -> str:
    """Return a name that is not ours, on one line, in which no build server finds a command (``::``, ``##[``)."""
    return re.sub(r":(?=:)|#(?=#)", "", one_line(text))


def unheard(text: str) -> str:
    """Return text for a log, cleaned, of which no line is a command to a build server."""
    return re.sub(r"(?m)^[^\S\n]*+::|##(?=\[|vso)", "| ", clean(text))


def fenced(text: str, language: str = "") -> str:
    """Return text as a fenced block of Markdown that nothing in it can close."""
    fence = "`" * (max([2, *map(len, _BACKTICKS.findall(text))]) + 1)
    return f"{fence}{language}\n{text.rstrip(chr(10))}\n{fence}"


def escaped(text: str) -> str:
    """Return a text within our own Markdown, on one line, in which nothing means anything."""
    marked = "".join(f"\\{sign}" if sign in "\\`*_{}[]()#+!|<>~&" else sign for sign in " ".join(text.split()))
    return f"\\{marked}" if marked[:1] in ("-", "=", ":") else marked
