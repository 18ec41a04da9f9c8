"""Pieces of text: what a reader of HTML would read, and whose words it is.

Nothing is lost without a word: what is no text of the page is counted, by the reason why it was left out.
"""

from __future__ import annotations

import html
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import Literal, TypeAlias

from llm_runtime.structs import Struct
from llm_runtime.toml import own_table

Kind: TypeAlias = Literal["own", "quoted", "code"]
"""The writer's own words; words that the source marks as somebody else's; no words at all."""
Span: TypeAlias = tuple[int, int]

#: Controls other than line breaks and tabs, soft hyphens, lone surrogates, characters that reorder others.
#: What joins or parts letters (Persian, Hindi) and pictures (a family) is seen where it stands behind one of these.
_UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\ud800-\udfff\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff]"
    "|(?<![\u0600-\u0dff\u2600-\u27bf\ufe0f\U0001f000-\U0001faff])[\u200c\u200d]"
)
_WORDS = {
    kind: frozenset(str(words).split()) for kind, words in own_table("llm_runtime.documents", "markup.toml").items()
}


def clean(text: str) -> str:
    """Remove characters that cannot be seen; return text with plain line breaks."""
    return _cleaned(text).strip()


def _cleaned(text: str) -> str:
    plain = text.replace("\r\n", "\n").replace("\r", "\n").replace("\u2028", "\n").replace("\u2029", "\n")
    return _UNSEEN.sub("", plain).replace("\u00a0", " ")


def one_line(value: object) -> str:
    """Return a value as one line of at most 300 characters; empty where it is neither text nor a number."""
    return " ".join(clean(str(value)).split())[:300] if isinstance(value, str | int | float) else ""


class Piece(Struct):
    """A run of text, as it is read.

    Args:
        opens: a block begins with it.
        whom: of a quotation, whose words it has; may be empty.
    """

    text: str
    kind: Kind = "own"
    opens: bool = False
    whom: str = ""


class Composed(Struct):
    """Pieces as one text; spans count its characters. ``whom`` has an entry for each quotation."""

    text: str
    quoted: tuple[Span, ...] = ()
    whom: tuple[str, ...] = ()
    code: tuple[Span, ...] = ()


def composed(pieces: Iterable[Piece]) -> Composed:
    """Return one text of pieces, a blank line between blocks, without what cannot be seen."""
    parts: list[str] = []
    spans: list[tuple[Kind, int, int, str]] = []
    length = 0
    for piece in pieces:
        tail = parts[-1][-2:] if parts else ""
        kept = _fitting(_cleaned(piece.text), piece, tail)
        if not kept:
            continue
        glue = "\n\n" if piece.opens and tail not in ("", "\n\n") else ""
        parts.append(glue + kept)
        start = length + len(glue)
        length = start + len(kept)
        if spans and (spans[-1][0], spans[-1][3]) == (piece.kind, piece.whom):
            start = spans.pop()[1]
        spans.append((piece.kind, start, length, piece.whom))
    text = "".join(parts).rstrip()
    quoted, whom = _spans(text, spans, "quoted")
    code, _ = _spans(text, spans, "code")
    return Composed(text, quoted, whom, code)


def _fitting(words: str, piece: Piece, tail: str) -> str:
    """Return the words of a piece without the white space that stands before them already."""
    if piece.opens or not tail:
        return words.lstrip() if piece.opens else words.lstrip("\n ")
    if tail == "\n\n":
        words = words.lstrip("\n")
    return words.lstrip(" ") if tail[-1].isspace() and piece.kind != "code" else words


def _spans(text: str, spans: list[tuple[Kind, int, int, str]], kind: Kind) -> tuple[tuple[Span, ...], tuple[str, ...]]:
    """Return where pieces of a kind stand, without the white space at their ends, and whose they are."""
    found = [(*_trimmed(text, start, end), whom) for one, start, end, whom in spans if one == kind]
    found = [one for one in found if one[0] < one[1]]
    return tuple((start, end) for start, end, _ in found), tuple(whom for *_, whom in found)


def _trimmed(text: str, start: int, end: int) -> Span:
    body = text[start:end]
    return start + len(body) - len(body.lstrip()), start + len(body.rstrip())


@dataclass(slots=True)
class HtmlPage:
    """What stands on a page, or in one comment below it.

    Args:
        comments: each with the place of the one that it answers, -1 where it answers the page.
        left: characters that are left out, by reason.
    """

    title: str = ""
    author: str = ""
    date: str = ""
    pieces: list[Piece] = field(default_factory=list[Piece])
    comments: list[tuple[HtmlPage, int]] = field(default_factory=list["tuple[HtmlPage, int]"])
    left: Counter[str] = field(default_factory=Counter[str])


def text_of_html(markup: str) -> str:
    """Return the readable text, one blank line between blocks."""
    return composed(page_of_html(markup).pieces).text


def page_of_html(markup: str) -> HtmlPage:
    """Return what a page says: its main part where it marks one, with quotations, code and comments apart."""
    reader = _Reader()
    reader.feed(markup)
    reader.close()
    page = reader.page
    if any(reader.inside):
        outside = (piece for piece, within in zip(page.pieces, reader.inside, strict=True) if not within)
        page.left["outside of the article"] += sum(len(piece.text) for piece in outside)
        page.pieces = [piece for piece, within in zip(page.pieces, reader.inside, strict=True) if within]
    for one, _ in ((page, -1), *page.comments):
        one.author = " ".join(one.author.split()).removesuffix(" says:").strip()[:120]
    return page


_MARKS = {"sup": "^", "sub": "_"}
_HIDDEN_BY = re.compile(r"(?i)(?:^|;)\s*(?:display\s*:\s*none|visibility\s*:\s*hidden)")


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=False)
        self.page = HtmlPage()
        self.inside: list[bool] = []
        self._open: list[tuple[str, str]] = []
        self._talk: list[int] = []
        self._opens = True
        self._in_row = False

    @property
    def _into(self) -> HtmlPage:
        return self.page.comments[self._talk[-1]][0] if self._talk else self.page

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self._opens |= tag in _WORDS["blocks"]
        self._cell(tag)
        if tag == "meta" and given.get("name", "").lower() == "author":
            self.page.author = given.get("content", "")
        if tag == "time" and not self._into.date:
            self._into.date = given.get("datetime", "")
        if tag in _WORDS["void"]:
            return
        role = self._role(tag, given)
        if role == "comment":
            self.page.comments.append((HtmlPage(), self._talk[-1] if self._talk else -1))
            self._talk.append(len(self.page.comments) - 1)
        self._open.append((tag, role))

    def _cell(self, tag: str) -> None:
        """Part a cell from the one before it in its row; those without words, by which pages are laid out, are none."""
        cell = tag in ("td", "th")
        if cell and self._in_row and (tag == "th" or not self._opens):
            self._said(" | ")
        self._in_row = cell or (self._in_row and tag != "tr")

    def _role(self, tag: str, given: dict[str, str]) -> str:
        marks = {*given.get("class", "").split(), *given.get("id", "").split(), given.get("itemprop", "")}
        if "comment" in marks or given.get("itemtype", "").endswith("/Comment"):
            return "comment"
        if "hidden" in given or _HIDDEN_BY.search(given.get("style", "")):
            return "left"
        # Some servers wrap all of a page into one form.
        whole = tag == "form" and self._open[-1:] == [("body", "")]
        if (tag in _WORDS["silent"] and not whole) or (self._talk and (marks & _WORDS["about"] or tag == "time")):
            return "left"
        if marks & _WORDS["authors"] or given.get("rel") == "author":
            return "author"
        roles = {"blockquote": "quoted", "pre": "code", "title": "title", "article": "main", "main": "main"}
        return "around" if marks & _WORDS["around"] else roles.get(tag, "head" if tag == "head" else "")

    def handle_endtag(self, tag: str) -> None:
        self._opens |= tag in _WORDS["blocks"]
        if any(tag == name for name, _ in self._open):
            while True:
                name, role = self._open.pop()
                if role == "comment":
                    self._talk.pop()
                if name == tag:
                    return

    def handle_data(self, data: str) -> None:
        self._said(data)

    def handle_charref(self, name: str) -> None:
        self._said(html.unescape(f"&#{name};"))

    def handle_entityref(self, name: str) -> None:
        self._said(html.unescape(f"&{name};"))

    def _said(self, data: str) -> None:
        into, roles = self._into, {role for _, role in self._open}
        if "title" in roles and not self._talk:
            self.page.title = " ".join((self.page.title + data).split())
        if "author" in roles and (self._talk or not self.page.author):
            into.author += data
        if why := self._left_out(roles):
            into.left[why] += len(data)
            return
        kind: Kind = "quoted" if "quoted" in roles else "code" if "code" in roles else "own"
        if kind != "code":
            data = re.sub(r"\s+", " ", data)
        if data.strip() or not self._opens:
            into.pieces.append(Piece(self._mark(data, into.pieces[-1:]) + data, kind, self._opens))
            self._opens = False
            if not self._talk:
                self.inside.append("main" in roles)

    def _mark(self, data: str, before: list[Piece]) -> str:
        """Return what parts digits that are raised or lowered from those before them: ten to the sixth is no 106."""
        digits = data[:1].isdigit() and any(piece.text[-1:].isdigit() for piece in before)
        return _MARKS.get(self._open[-1][0], "") if digits and self._open and not self._opens else ""

    def _left_out(self, roles: set[str]) -> str:
        if "title" in roles or "head" in roles:
            return "head of the page"
        if "left" in roles:
            return "scripts, menus, forms"
        if self._talk and "author" in roles:
            return "names and dates"
        return "around the comments" if "around" in roles and not self._talk else ""
