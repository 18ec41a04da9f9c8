"""Plain text out of HTML: what a reader would read; scripts, styles and hidden parts left out."""

from __future__ import annotations

import re
from html.parser import HTMLParser

_SILENT_TAGS = "script style template noscript head iframe object svg math form"
_BLOCK_TAGS = (
    "p div br li ul ol h1 h2 h3 h4 h5 h6 blockquote pre section article header footer tr table figure hr main"
)
_SILENT = frozenset(_SILENT_TAGS.split())
_BLOCKS = frozenset(_BLOCK_TAGS.split())
_BLANK = re.compile(r"\n[ \t]*\n\s*")
_TAG = re.compile(r"<[a-zA-Z!/][^>]{0,2000}>")


def looks_like_html(text: str) -> bool:
    """Tell whether a text has tags."""
    return bool(_TAG.search(text[:100_000]))


def text_of_html(markup: str) -> str:
    """Return the readable text, one blank line between blocks."""
    reader = _Reader()
    reader.feed(markup)
    reader.close()
    lines = [" ".join(line.split()) for line in "".join(reader.parts).split("\n")]
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip()


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.parts: list[str] = []
        self._silent: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in _SILENT:
            self._silent.append(tag)
        elif tag in _BLOCKS:
            self.parts.append("\n\n")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in _BLOCKS:
            self.parts.append("\n\n")

    def handle_endtag(self, tag: str) -> None:
        if tag in self._silent:
            while self._silent.pop() != tag:
                pass
        elif tag in _BLOCKS:
            self.parts.append("\n\n")

    def handle_data(self, data: str) -> None:
        if not self._silent:
            # A blank line is a paragraph in the Markdown that tags so often stand in.
            self.parts.append("\n\n".join(part.replace("\n", " ") for part in _BLANK.split(data)))
