"""The neutral data a report is made of; a protocol fills it, a renderer shows it, and neither knows the other.

Every text in a story is raw: nothing is escaped or cleaned here. Renderers do that, each for its own medium.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field
from typing import TYPE_CHECKING, Literal, TypeAlias

from assay.report.columns import Column
from assay.report.markup import Element
from llm_runtime.structs import Struct

if TYPE_CHECKING:
    from assay.report.cases import CaseBench
    from assay.report.standing import RunStanding

Tone: TypeAlias = Literal["info", "good", "warning", "bad"]
Range: TypeAlias = tuple[int, int]
"""A half-open range of characters, ``text[start:end]``."""


Sign: TypeAlias = tuple[int, str]
"""A place in a text, and the sign to set there."""


class Pin(Struct):
    """What ties a stretch of a text to what somebody else wrote about it.

    Args:
        start: of ``text[start:end]``; as much as ``end`` where only the sign is to be set.
        end: likewise.
        sign: a number or few words behind it.
        kind: why it is marked: it is attacked, or it is an answer to an attack.
        name: what leads here.
        leads: the name of what it leads to; empty for nothing.
        about: what that says, in a line.
    """

    start: int
    end: int
    sign: str
    kind: Literal["attacked", "reply"] = "reply"
    name: str = ""
    leads: str = ""
    about: str = ""


class Prose(Struct):
    """Markdown that a model wrote.

    Args:
        text: the Markdown.
        changed: ranges of ``text`` to mark as new, ascending and apart, none across a line end.
        lead: whether this is what the reader came for, and may be set larger.
        notes: signs to set behind places, ascending: numbers of :class:`Footnotes`, or a word.
        gone: words that an earlier text had, each at its place, ascending.
        pins: what ties it to other texts.
    """

    text: str
    changed: tuple[Range, ...] = ()
    lead: bool = False
    notes: tuple[Sign, ...] = ()
    gone: tuple[Sign, ...] = ()
    pins: tuple[Pin, ...] = ()

    @property
    def signs(self) -> tuple[Sign, ...]:
        """The notes and those of the pins, ascending."""
        return tuple(sorted((*self.notes, *((pin.end, pin.sign) for pin in self.pins))))


class Plain(Struct):
    """Text shown as it is, line for line."""

    text: str


class Mark(Struct):
    """A range of a text to mark, ``text[start:end]``, and a sign to set behind it: the number of what it shows."""

    start: int
    end: int
    sign: str = ""


class Marked(Struct):
    """Text shown as it is, line for line, with places marked.

    Args:
        text: the text.
        marks: ascending and apart.
        by: what it is or whose.
    """

    text: str
    marks: tuple[Mark, ...] = ()
    by: str = ""

    def pieces(self) -> list[tuple[str, Mark | None]]:
        """Cut the text into pieces, each with its mark; joined, the pieces are the text."""
        pieces: list[tuple[str, Mark | None]] = []
        at = 0
        for mark in self.marks:
            pieces += [(self.text[at : mark.start], None), (self.text[mark.start : mark.end], mark)]
            at = mark.end
        pieces.append((self.text[at:], None))
        return [piece for piece in pieces if piece[0]]


class Quote(Struct):
    """Somebody's words, and whose they are."""

    text: str
    by: str = ""


class Table(Struct):
    """Rows of text under typed columns; ``total`` is set apart as the sum of what stands above it.

    ``links`` are of the rows: a name that leads there, and the name of what its first cell leads to.
    """

    columns: tuple[Column, ...]
    rows: tuple[tuple[str, ...], ...]
    total: tuple[str, ...] | None = None
    caption: str = ""
    links: tuple[tuple[str, str], ...] = ()


class Figure(Struct):
    """A picture drawn by our own code, and the same in words for whoever cannot see it."""

    svg: Element
    caption: str
    alternative: str


class Note(Struct):
    """A remark of ours."""

    text: str
    tone: Tone = "info"


class Footnotes(Struct):
    """Sources by their signs, which :class:`Prose` refers to."""

    entries: tuple[tuple[str, str], ...]


class Details(Struct):
    """Blocks that are folded away until asked for."""

    summary: str
    blocks: tuple[Block, ...]


class Voice(Struct):
    """What one participant said.

    Args:
        name: who.
        blocks: what.
        accent: the participant's colour class, as in the pictures: ``"c0"`` to ``"c5"`` or ``"red"``.
        remark: a few words beside the name.
    """

    name: str
    blocks: tuple[Block, ...]
    accent: str = "c0"
    remark: str = ""


Block: TypeAlias = "Prose | Plain | Marked | Quote | Table | Figure | Note | Footnotes | Details | Voice"


class Section(Struct):
    """A heading and what stands under it; ``brief`` where it is part of the page that is printed without an annex."""

    heading: str
    blocks: tuple[Block, ...]
    brief: bool = False


class Fact(Struct):
    """One thing to know at a glance."""

    label: str
    value: str


class Story(Struct):
    """A report.

    Args:
        title: what the run was about.
        subtitle: what kind of run it was; the head adds how it stands.
        tone: of its verdict, as a colour.
        facts: the few numbers that go on top.
        sections: the report itself, the most wanted first.
        bench: makes its cases, where it has some that are looked through one by one.
        standing: how its run stands, where that is known.
    """

    title: str
    subtitle: str
    tone: Tone = "info"
    facts: tuple[Fact, ...] = ()
    sections: tuple[Section, ...] = field(default=())
    bench: Callable[[], CaseBench] | None = None
    standing: RunStanding | None = None

    @property
    def origin(self) -> str:
        """Where its answers come from."""
        by = self.standing.by if self.standing else ()
        return (self.standing and self.standing.origin) or (f"Answered by {', '.join(by)}." if by else "")
