"""Plain text out of HTML: what a reader would read, and which of it the page gives as somebody else's words."""

from __future__ import annotations

import re
from html.parser import HTMLParser

#: Controls other than line breaks and tabs, lone surrogates, and characters that reorder what a reader sees.
_UNSEEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]")
_SILENT_TAGS = "script style template noscript head iframe object svg math form nav aside"
_BLOCK_TAGS = (
    "p div br li ul ol h1 h2 h3 h4 h5 h6 blockquote pre section article header footer tr table figure hr main"
)
_SILENT = frozenset(_SILENT_TAGS.split())
_BLOCKS = frozenset(_BLOCK_TAGS.split())
_BLANK = re.compile(r"\n[ \t]*\n\s*")
_TAG = re.compile(r"<[a-zA-Z!/][^>]{0,2000}>")
#: Where a quotation begins and ends, while white space is put in order; both are for private use, and none's text.
_OPEN, _SHUT = "\ue000", "\ue001"


def clean(text: str) -> str:
    """Remove characters that cannot be seen; return text with plain line breaks."""
    plain = text.replace("\r\n", "\n").replace("\r", "\n").replace("\u2028", "\n").replace("\u2029", "\n")
    return _UNSEEN.sub("", plain).replace("\u00a0", " ").strip()


def one_line(value: object) -> str:
    """Return a value as one line of at most 300 characters; empty where it is neither text nor a number."""
    return " ".join(clean(str(value)).split())[:300] if isinstance(value, str | int) else ""


def looks_like_html(text: str) -> bool:
    """Tell whether a text has tags."""
    return bool(_TAG.search(text[:100_000]))


def text_of_html(markup: str) -> str:
    """Return the readable text, one blank line between blocks."""
    return quoted_text(markup)[0]


def quoted_text(markup: str) -> tuple[str, tuple[tuple[int, int], ...]]:
    """Return the readable text, and the spans of its block quotations."""
    return spans_of(marked_text(markup))


def marked_text(markup: str) -> str:
    """Return the readable text with its block quotations marked, for :func:`spans_of`."""
    reader = _Reader()
    reader.feed(markup.replace(_OPEN, "").replace(_SHUT, ""))
    reader.close()
    lines = [" ".join(line.split()) for line in "".join(reader.parts).split("\n")]
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip()


def marked(text: str) -> str:
    """Mark the block quotations of a Markdown text, for :func:`spans_of`."""
    return re.sub(r"(?m)^(?:[ ]{0,3}>.*(?:\n|\Z))+", lambda block: f"{_OPEN}{block[0].rstrip()}{_SHUT}\n", text)


def spans_of(text: str) -> tuple[str, tuple[tuple[int, int], ...]]:
    """Take the marks of quotations out of a text, and return where they stood."""
    spans: list[tuple[int, int]] = []
    plain, depth, start = "", 0, 0
    for piece in re.split(f"([{_OPEN}{_SHUT}])", text):
        if piece == _OPEN:
            start = start if depth else len(plain)
            depth += 1
        elif piece == _SHUT:
            depth = max(0, depth - 1)
            body = plain[start:]
            first, last = start + len(body) - len(body.lstrip()), start + len(body.rstrip())
            if not depth and first < last:
                spans.append((first, last))
        else:
            # What stood on both sides of a mark may have ended and begun with a blank line.
            plain += piece.lstrip("\n") if plain.endswith("\n\n") or not plain else piece
    return plain.rstrip(), tuple(spans)


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.parts: list[str] = []
        self._silent: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in _SILENT:
            self._silent.append(tag)
        elif tag in _BLOCKS:
            self.parts.append(f"\n\n{_OPEN}" if tag == "blockquote" else "\n\n")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in _BLOCKS:
            self.parts.append("\n\n")

    def handle_endtag(self, tag: str) -> None:
        if tag in self._silent:
            while self._silent.pop() != tag:
                pass
        elif tag in _BLOCKS:
            self.parts.append(f"{_SHUT}\n\n" if tag == "blockquote" else "\n\n")

    def handle_data(self, data: str) -> None:
        if not self._silent:
            # A blank line is a paragraph in the Markdown that tags so often stand in.
            self.parts.append("\n\n".join(part.replace("\n", " ") for part in _BLANK.split(data)))
