"""A person's texts: items as they came, and chunks that keep their place in the item (CX15)."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import TypeVar

from pydantic import Field

from crux.quotes import find_quote
from crux.results import CamelModel, Place
from crux.sources.utterance import Utterance
from llm_runtime.grouping import grouped

T = TypeVar("T")

CHUNK_CHARS = 1_600
"""About 270 words: an argument with its reason, and few enough calls to read a whole shelf."""
MAX_ITEM_CHARS = 2_000_000
"""Longer texts are kept in parts (:func:`in_parts`)."""
_PARAGRAPH = re.compile(r"\n\s*\n")
_SENTENCE = re.compile(r"(?<=[.!?;])[\"'”’)\]]?\s+")


class Chunk(CamelModel):
    """A passage: ``item.text[start:end] == text``. Its id is drawn from its content and survives other changes."""

    id: str
    item: str
    start: int
    end: int
    text: str


class Corpus(CamelModel):
    """All texts of one person, oldest first. ``digest`` identifies their content."""

    items: tuple[Utterance, ...] = Field(default=())

    @cached_property
    def chunks(self) -> tuple[Chunk, ...]:
        """Every passage, in order; equal passages (a repeated boilerplate) once."""
        chunks: dict[str, Chunk] = {}
        for item in self.items:
            for chunk in chunked(item):
                chunks.setdefault(chunk.id, chunk)
        return tuple(chunks.values())

    @cached_property
    def by_id(self) -> dict[str, Utterance]:
        """Items by id."""
        return {item.id: item for item in self.items}

    def passage_of(self, place: Place) -> str:
        """Return the id of the passage that a place begins in; empty where it is in none."""
        own = self._passages.get(place.item, ())
        return next((chunk.id for chunk in own if chunk.start <= place.start < chunk.end), "")

    @cached_property
    def _passages(self) -> dict[str, list[Chunk]]:
        return grouped((chunk.item, chunk) for chunk in self.chunks)

    @cached_property
    def digest(self) -> str:
        """SHA-256 over ids and texts, in hex."""
        whole = hashlib.sha256()
        for item in self.items:
            whole.update(f"{item.id}\0{item.date}\0{item.text}\0".encode())
        return whole.hexdigest()

    def find(self, quote: str) -> Place | None:
        """Find a quotation in the oldest text that has it; None where it stands nowhere."""
        for item in self.items:
            if span := find_quote(quote, item.text):
                return self.place(item.id, *span)
        return None

    def place(self, item_id: str, start: int, end: int) -> Place:
        """Return a place with all that a reader needs to open it."""
        item = self.by_id[item_id]
        quote = item.text[start:end]
        return Place(item=item_id, start=start, end=end, quote=quote, title=item.title, date=item.date, url=item.url)


def make_corpus(items: Iterable[Utterance]) -> Corpus:
    """Make a corpus in order of date (undated last) and id; empty texts, and those there twice, are dropped."""
    seen: dict[str, Utterance] = {}
    ids: set[str] = set()
    for item in sorted(items, key=lambda item: (item.date or "9999", item.id)):
        key = " ".join(item.text.split())
        if not key or key in seen:
            continue
        name, turn = item.id, 1
        while name in ids:
            turn += 1
            name = f"{item.id}-{turn}"
        ids.add(name)
        seen[key] = item if name == item.id else item.model_copy(update={"id": name})
    return Corpus(items=tuple(seen.values()))


def in_parts(item: Utterance) -> list[Utterance]:
    """Return a text as parts of at most :data:`MAX_ITEM_CHARS` characters, cut between paragraphs if possible."""
    parts: list[Utterance] = []
    start = 0
    while len(item.text) - start > MAX_ITEM_CHARS:
        cut = item.text.rfind("\n\n", start + MAX_ITEM_CHARS // 2, start + MAX_ITEM_CHARS)
        cut = cut if cut > 0 else start + MAX_ITEM_CHARS
        parts.append(_part(item, start, cut, len(parts) + 1))
        start = cut
    return [*parts, _part(item, start, len(item.text), len(parts) + 1)] if parts else [item]


def _part(item: Utterance, start: int, end: int, number: int) -> Utterance:
    spans = [(max(a, start) - start, min(b, end) - start) for a, b in item.quoted or () if a < end and start < b]
    update = {"id": f"{item.id}-part-{number}", "text": item.text[start:end], "quoted": tuple(spans) or None}
    return item.model_copy(update=update | {"title": f"{item.title or item.id}, part {number}"})


def chunked(item: Utterance) -> list[Chunk]:
    """Cut a text into passages: whole paragraphs up to :data:`CHUNK_CHARS`, long ones cut at sentences."""
    chunks: list[Chunk] = []
    start = end = -1
    for first, last in _pieces(item.text):
        if start >= 0 and last - start > CHUNK_CHARS:
            chunks.append(_chunk(item, start, end))
            start = -1
        if start < 0:
            start = first
        end = last
    if start >= 0:
        chunks.append(_chunk(item, start, end))
    return chunks


def shared_texts(first: Corpus, second: Corpus) -> list[str]:
    """Return ids of the first corpus's items whose whole text, or half of whose passages, the second has too."""
    other = {" ".join(chunk.text.split()) for chunk in second.chunks}
    shared: list[str] = []
    for item in first.items:
        passages = [" ".join(chunk.text.split()) for chunk in chunked(item)]
        if passages and 2 * sum(passage in other for passage in passages) >= len(passages):
            shared.append(item.id)
    return shared


def _pieces(text: str) -> list[tuple[int, int]]:
    """Return spans of paragraphs, those longer than a chunk split at sentences or, failing that, at the limit."""
    pieces: list[tuple[int, int]] = []
    for start, end in _spans(text, 0, len(text), _PARAGRAPH):
        if end - start <= CHUNK_CHARS:
            pieces.append((start, end))
            continue
        for first, last in _spans(text, start, end, _SENTENCE):
            pieces += [(at, min(at + CHUNK_CHARS, last)) for at in range(first, last, CHUNK_CHARS)]
    return pieces


def sentence_spans(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """Return where the sentences between two characters of a text begin and end, headings and lists apart."""
    paragraphs = _spans(text, start, end, _PARAGRAPH)
    return [span for first, last in paragraphs for span in _spans(text, first, last, _SENTENCE)]


def _spans(text: str, start: int, end: int, gap: re.Pattern[str]) -> list[tuple[int, int]]:
    spans: list[tuple[int, int]] = []
    at = start
    for match in [*gap.finditer(text, start, end), None]:
        stop = match.start() if match else end
        if match and gap is _SENTENCE:
            stop = match.end() - (len(match[0]) - len(match[0].rstrip()))
        if text[at:stop].strip():
            first = at + len(text[at:stop]) - len(text[at:stop].lstrip())
            spans.append((first, at + len(text[at:stop].rstrip())))
        at = match.end() if match else end
    return spans


def _chunk(item: Utterance, start: int, end: int) -> Chunk:
    text = item.text[start:end]
    name = hashlib.sha256(" ".join(text.split()).encode()).hexdigest()[:12]
    return Chunk(id=f"c-{name}", item=item.id, start=start, end=end, text=text)


def spread(items: Sequence[T], most: int) -> list[T]:
    """Pick at most ``most`` of what is in order, evenly over all of it, the first and the last among them."""
    if len(items) <= most:
        return list(items)
    if most == 1:
        return [items[-1]]
    return [items[round(place * (len(items) - 1) / (most - 1))] for place in range(most)]
