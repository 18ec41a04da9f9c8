"""How a text is written: CommonMark, reStructuredText, plain lines, HTML; and what of it is quoted, or is code."""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from html import unescape
from itertools import accumulate
from typing import Any, TypeAlias

from crux.sources.file import SourceFile
from llm_runtime.documents.markup import Kind, Piece, page_of_html
from llm_runtime.extras import needing

Mark: TypeAlias = tuple[int, int, str]
"""From line, to line, and what stands there: a kind of piece, or why it is left out."""
Form: TypeAlias = Callable[[SourceFile, str], list[Piece]]

_WROTE = re.compile(
    r"(?:^|\n)[^\n]*?([^\W\d_][\w.'’ -]{0,60}?)(?: <[^>\n]*>)?,? (?:wrote|writes|said|says)(?: on [^:\n]*)?:\s*\Z"
)
_ATTRIBUTION = re.compile(r"(?<!\s)\s*+(?:(?<!-)--++|—|―)\s*+(\S.{0,60}?)\s*+\Z")
#: Where the mail begins that is answered below: a line between, or its head, which has three fields or more.
_ORIGINAL = re.compile(
    r"(?m)^(?:-{2,}\s*(?:Original|Forwarded) .essage\s*-{2,}|_{20,}|\*?(?:From|Von|De|Da|Van|Fra|Från|От|发件人|差出人)"
    r"\*?\s?[:：].+\n\s*(?:[*\w][^\n:：]{1,20}[:：].+\n\s*){2})"
)
#: The line above an answered mail that no ">" marks: a date, an address, a colon at its end.
_UNMARKED = re.compile(
    r"(?m)^(?=[^\n]*\d)[^\n<>]*(?:\n[^\n<>]*)?<[^<>\s@]+@[^<>\s]+>[^\n]{0,60}(?:\n[^\n]{0,20})?[:：][ \t\r]*$"
    r"(?![\s\S]*\n *>)"
)
#: Where a comment ends with words behind it, which CommonMark takes for a part of it.
_BEHIND = re.compile(r"(?m)^( {0,3}<!--(?:(?!-->|<!--)[\s\S])*-->)[ \t]*(?=\S)")


def markdown(file: SourceFile, raw: str) -> list[Piece]:
    """Return CommonMark: its text as it is written, block quotations and code apart, comments left out."""
    raw = _BEHIND.sub(r"\1\n", raw)
    special = any(sign in raw for sign in (">", "```", "~~~", "<", "\t", "    "))
    return _sliced(file, raw, list(_markdown_marks(raw)) if special else [])


def _markdown_marks(raw: str) -> Iterator[Mark]:
    parser: Any = importlib.import_module("markdown_it").MarkdownIt("commonmark")
    until, opened = 0, -1
    for token in parser.parse(raw):
        if token.map is None or token.map[0] < until:
            continue
        first, last = token.map
        kind = {"blockquote_open": "quoted", "fence": "code", "code_block": "code"}.get(token.type, "")
        if token.type == "html_block":
            opened, kind = _html_block(token.content.lower(), first, opened)
            first = opened if kind == "quoted" else first
            opened = -1 if kind == "quoted" else opened
        if kind:
            yield first, last, kind
            until = last


def _html_block(block: str, first: int, opened: int) -> tuple[int, str]:
    """Return where a quotation by tags has begun, and what the block ends or is; a quotation may be many blocks."""
    if block.lstrip().startswith(("<!--", "<script", "<style")):
        return opened, "comments and scripts"
    if "<blockquote" in block and opened < 0:
        opened = first
    return opened, "quoted" if "</blockquote" in block and opened >= 0 else "code" if "<pre" in block else ""


def restructured(file: SourceFile, raw: str) -> list[Piece]:
    """Return reStructuredText: as :func:`markdown`.

    Raises:
        MissingExtraError: the extra ``import`` is not installed.
    """
    with needing("reading .rst files", "import"):
        core: Any = importlib.import_module("docutils.core")
    silent = {"report_level": 5, "halt_level": 6, "warning_stream": False, "input_encoding": "unicode"}
    safe = {"file_insertion_enabled": False, "raw_enabled": False, "_disable_config": True}
    tree = core.publish_doctree(raw, settings_overrides={**silent, **safe})
    kinds = {"block_quote": "quoted", "literal_block": "code", "doctest_block": "code", "comment": "comments"}
    lines = [line.strip() for line in raw.split("\n")]
    marks: list[Mark] = []
    for node in tree.findall():
        if (kind := kinds.get(node.tagname)) and node.line and node.rawsource:
            head = node.rawsource.split("\n")[0].strip()
            near = sorted(range(len(lines)), key=lambda at, line=node.line: abs(at - line + 1))[:8]
            first = next((at for at in near if head and (lines[at] == head or lines[at].endswith(head))), -1)
            if first >= 0 and not any(a <= first < b for a, b, _ in marks):
                last = first + node.rawsource.rstrip().count("\n") + 1
                marks.append((_directive(lines, first) if kind == "code" else first, last, kind))
    return _sliced(file, raw, marks)


def _directive(lines: list[str], first: int) -> int:
    """Return where the directive begins that a block of code is the content of, or the block itself."""
    up = first
    while up > 0 and (not lines[up - 1] or lines[up - 1].startswith(":")):
        up -= 1
    return up - 1 if up > 0 and lines[up - 1].startswith(".. ") else first


def plain(file: SourceFile, raw: str) -> list[Piece]:
    """Return plain text: lines that begin with ``>`` are quoted, as they are in mails."""
    return _sliced(file, raw, list(_quoted_lines(raw)))


def chat(file: SourceFile, raw: str) -> list[Piece]:
    """Return a message of a chat: quoted lines, and code between fences."""
    raw = unescape(raw)
    lines = raw.split("\n")
    fences = [at for at, line in enumerate(lines) if line.count("```") % 2]
    code = [(first, last + 1, "code") for first, last in zip(fences[::2], fences[1::2], strict=False)]
    quoted = [mark for mark in _quoted_lines(raw) if not any(a <= mark[0] < b for a, b, _ in code)]
    # Three signs begin a quotation that the message ends with.
    rest = [(first, len(lines), kind) for first, _, kind in quoted if lines[first][:3] == ">>>"]
    return _sliced(file, raw, [*code, *quoted, *rest])


def mail(file: SourceFile, raw: str) -> list[Piece]:
    """Return the body of a mail: what is answered below or above is quoted, the signature left out."""
    lines = raw.split("\n")
    end = next((at for at, line in enumerate(lines) if line.rstrip("\r") == "-- "), len(lines))
    heads = (head.start() for one in (_ORIGINAL, _UNMARKED) if (head := one.search(raw)))
    below = min([end, *(raw.count("\n", 0, at) for at in heads)])
    marks = [mark for mark in _quoted_lines(raw) if mark[1] <= below]
    if below < end:
        marks.append((below, end, "quoted"))
    return _sliced(file, raw, [*marks, (end, len(lines), "a signature")] if end < len(lines) else marks)


def web_mail(file: SourceFile, raw: str) -> list[Piece]:
    """Return the body of a mail that is written as a page."""
    pieces = web(file, raw)
    lines = ["\n" * piece.opens + piece.text for piece in pieces]
    below = next((at for at in range(len(lines)) if _ORIGINAL.match("".join(lines[at : at + 40]).lstrip())), len(lines))
    return [*pieces[:below], *(replace(piece, kind="quoted") for piece in pieces[below:])]


def web(file: SourceFile, raw: str) -> list[Piece]:
    """Return what a reader would read of HTML, without comments."""
    page = page_of_html(raw)
    file.characters += page.left.total()
    file.left += page.left
    return page.pieces


def _quoted_lines(raw: str) -> Iterator[Mark]:
    start = -1
    for at, line in enumerate([*raw.split("\n"), ""]):
        if line.lstrip(" ").startswith(">"):
            start = at if start < 0 else start
        elif start >= 0:
            yield start, at, "quoted"
            start = -1


def _sliced(file: SourceFile, raw: str, marks: list[Mark]) -> list[Piece]:
    """Cut a text at its marks; an attribution belongs to the quotation that it stands above or ends."""
    starts = [*accumulate((len(line) + 1 for line in raw.split("\n")), initial=0)]
    pieces: list[Piece] = []
    at = 0
    for first, last, kind in sorted(marks):
        start, end, whom = max(starts[first], at), min(starts[last], len(raw)), ""
        if kind == "quoted":
            above = _WROTE.search(raw[max(at, start - 300) : start].rstrip())
            below = _ATTRIBUTION.search(raw[start:end].rstrip().rpartition("\n")[2].lstrip("> "))
            whom = (above or below or [""])[1].strip() if above or below else ""
            if above:
                start = max(at, start - 300) + above.start()
        pieces.append(Piece(raw[at:start]))
        if kind in ("quoted", "code"):
            typed: Kind = "quoted" if kind == "quoted" else "code"
            pieces.append(Piece(raw[start:end], typed, whom=whom))
        else:
            file.leave(kind, raw[start:end])
        at = max(at, end)
    pieces.append(Piece(raw[at:]))
    return [piece for piece in pieces if piece.text]
