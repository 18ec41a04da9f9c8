"""Reading every passage of an author against the claims found so far; nothing is left out without a word."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256

from pydantic import BaseModel, Field

from crux.behaviour import BEHAVIOUR
from crux.book import Author, Claim, ClaimBook, ClaimKind, Correction, Mention, Relation, Stance, Told
from crux.claims.grammar import reading_grammar
from crux.claims.second import read_again
from crux.corrections import corrected
from crux.ending import OVER
from crux.personas.corpus import Chunk, Corpus
from crux.quotes import find_quote, neighbours, sentences, whole
from crux.requests import BATCH_TOKENS, Questioner, entry_line
from crux.results import Place
from crux.retrieval.lexical import Lexical
from llm_runtime.errors import CallError, StructuredOutputError
from llm_runtime.messages import CallLabel, Request
from llm_runtime.prompts import load_prompt
from llm_runtime.structs import Struct
from llm_runtime.structured import ask
from llm_runtime.tasks import gather
from llm_runtime.tokens import estimate_tokens

#: Tokens (characters/4) of the passages of one call, and how many calls see the same list of claims.
WAVE = 8
_NEAREST, _COMMONEST = 40, 20
_MOST_CLAIMS = 8
_MOST_WORDS = 300
_EVERYBODY = 'several people; each passage names its own author as "speaker"'
_LEFT_OUT = re.compile(r"[\[(]?(?:\.{3,}|…)[\])]?[,;:]?")


class _ReadClaim(BaseModel):
    """A stance that a passage takes to a claim."""

    ref: str = Field(default="", max_length=40)
    id: str = Field(default="", max_length=40)
    text: str = Field(default="", max_length=1_000)
    kind: ClaimKind = "inference"
    stance: Told
    quote: str = Field(max_length=4_000)
    supports: list[str] = Field(default_factory=list, max_length=20)


class _ReadPassage(BaseModel):
    """What one passage holds."""

    id: str = Field(max_length=40)
    claims: list[_ReadClaim] = Field(default_factory=list[_ReadClaim], max_length=40)
    none: str = Field(default="", max_length=600)


class _Readings(BaseModel):
    """The answer for a batch of passages."""

    passages: list[_ReadPassage] = Field(max_length=200)


class Unread(Struct):
    """A passage that got no usable answer, twice."""

    chunk: Chunk
    reason: str


@dataclass(slots=True)
class _Reader:
    """The book of one author while it grows."""

    author: str
    corpus: Corpus
    asking: Questioner
    claims: dict[str, Claim]
    mentions: list[Mention]
    relations: list[Relation]
    read: dict[str, None]
    unquoted: int = 0
    unread: dict[str, str] = field(default_factory=dict[str, str])
    checked: int = 0
    unchecked: bool = False
    corrections: tuple[Correction, ...] = ()

    def speaker(self, chunk: Chunk) -> str:
        """Return whose passage it is; of a group's texts each says so itself."""
        return self.author or self.corpus.by_id[chunk.item].speaker or ""

    def book(self) -> ClaimBook:
        read, unread = tuple(self.read), tuple(self.unread)
        author = Author(name=self.author, read=read, unread=unread, unquoted=self.unquoted, unchecked=self.unchecked)
        book = ClaimBook(
            claims=tuple(self.claims.values()),
            mentions=tuple(self._told()),
            relations=tuple(self.relations),
            authors=(author,),
            corrections=self.corrections,
        )
        return corrected(book) if self.corrections else book

    def _told(self) -> Iterable[Mention]:
        """Return the mentions, one for each claim in each place: what a passage read again says takes its place."""
        if BEHAVIOUR.before(6):
            return dict.fromkeys(self.mentions)
        return {(one.author, one.claim, one.place.item, one.place.start): one for one in self.mentions}.values()


async def read_book(
    author: str, corpus: Corpus, asking: Questioner, book: ClaimBook | None = None, *,
    keep: Callable[[ClaimBook], None] = lambda book: None,
    step: Callable[[int, int], None] = lambda done, of: None,
) -> tuple[ClaimBook, list[Unread]]:  # fmt: skip
    """Read the passages that a book has not, wave by wave; return the book and what stays unread.

    Args:
        author: whose texts; the name shown to the model. Empty where they are a group's and each has its speaker.
        corpus: the texts.
        book: what was read before; its passages are not asked about again.
        keep: takes the book after every wave, so that nothing paid for is lost.
        step: takes how many passages are read, of how many.

    Raises:
        LlmRuntimeError: a budget, a deadline or a refusal that every call would meet; what was read was kept.
    """
    present = {chunk.id for chunk in corpus.chunks}
    book = book or ClaimBook()
    old = next((one for one in book.authors if one.name == author), Author(name=author))
    mentions = [one for one in book.mentions if _stands(corpus, one.place)]
    read = dict.fromkeys(key for key in old.read if key in present)
    held = dict(book.by_id), mentions, list(book.relations), read, old.unquoted
    reader = _Reader(author, corpus, asking, *held, corrections=book.corrections)
    batches = batches_of(corpus, reader.read, asking.tokens_a_call)
    reader.checked, reader.unchecked = len(reader.mentions), old.unchecked
    if reader.unchecked and (stop := await _check(reader)) is not None:
        # What was read when a budget ended has had no second reader, and gets none now.
        keep(reader.book())
        raise stop
    for start in range(0, len(batches), WAVE):
        wave = batches[start : start + WAVE]
        frozen = list(reader.claims.values())
        answers = await gather(_batch(reader, batch, frozen) for batch in wave)
        stop: Exception | None = None
        for batch, (answer, refused) in zip(wave, answers, strict=True):
            stop = stop or refused
            _enter(reader, batch, answer)
        stop = await _check(reader) or stop
        keep(reader.book())
        step(len(reader.read), len(corpus.chunks))
        if stop is not None:
            raise stop
    lost = [Unread(chunk, reader.unread[chunk.id]) for chunk in corpus.chunks if chunk.id in reader.unread]
    return reader.book(), lost


async def _check(reader: _Reader) -> Exception | None:
    """Have every new mention read a second time, by a reader who is not told what the first one said.

    What the source marks as another's words needs none. Returns the refusal that every call would meet.
    """
    items, start = reader.corpus.by_id, 0 if reader.unchecked else reader.checked
    added = (one for one in dict.fromkeys(reader.mentions[start:]) if one.readings is None)
    fresh = [one for one in added if items[one.place.item].own(one.place.start, one.place.end)]
    if not fresh or BEHAVIOUR.before(6):
        return None
    again, stop = await read_again(fresh, reader.claims, reader.corpus, reader.asking)
    by_first = dict(zip(fresh, again, strict=True))
    reader.mentions = [by_first.get(one, one) for one in reader.mentions]
    reader.checked, reader.unchecked = len(reader.mentions), stop is not None
    return stop


async def read_alone(author: str, corpus: Corpus, chunk: Chunk, asking: Questioner) -> ClaimBook:
    """Read one passage by itself, with no claims before it, as a check on what was read of it among others.

    Raises:
        LlmRuntimeError: a budget, a deadline or a refusal that every call would meet.
    """
    reader = _Reader(author, corpus, asking, {}, [], [], {})
    answer, refused = await _batch(reader, [chunk], (), "audit")
    if refused is not None:
        raise refused
    _enter(reader, [chunk], answer)
    return reader.book()


def _stands(corpus: Corpus, place: Place) -> bool:
    """Tell whether a sentence is still where it was read: texts come and go between two imports."""
    item = corpus.by_id.get(place.item)
    return item is not None and item.text[place.start : place.end] == place.quote


def batches_of(
    corpus: Corpus, read: Sequence[str] | dict[str, None] = (), tokens_a_call: int = BATCH_TOKENS
) -> list[list[Chunk]]:
    """Return the passages that are not read yet, in order, in batches of at most so many tokens, one at least."""
    batches: list[list[Chunk]] = []
    size = 0
    for chunk in corpus.chunks:
        if chunk.id in read:
            continue
        tokens = estimate_tokens(chunk.text) + 40
        if not batches or size + tokens > tokens_a_call:
            batches.append([])
            size = 0
        batches[-1].append(chunk)
        size += tokens
    return batches


async def _batch(
    reader: _Reader, batch: Sequence[Chunk], frozen: Sequence[Claim], phase: str = "reading"
) -> tuple[dict[str, _ReadPassage], Exception | None]:
    """Ask about a batch; ask again, at half the size, for the passages that the answer leaves out.

    Returns what was answered, and the refusal that every further call would meet, where there was one.
    """
    passages: dict[str, _ReadPassage] = {}
    half = (len(batch) + 1) // 2
    lots = [list(batch)]
    for turn in (1, 2):
        for lot in lots:
            asked = reading_request(reader.author, reader.corpus, lot, frozen, reader.asking, turn, phase)
            try:
                answer = (await ask(reader.asking.generate, asked, _Readings, reasks=0)).value
            except OVER as stop:
                return passages, stop
            except (CallError, StructuredOutputError) as fault:
                reader.unread.update({chunk.id: " ".join(str(fault).split())[:160] for chunk in lot})
                continue
            ids = {f"p{number}": chunk.id for number, chunk in enumerate(lot, start=1)}
            passages.update({ids[one.id]: one for one in answer.passages if one.id in ids})
        missing = [chunk for chunk in batch if chunk.id not in passages]
        lots = [missing[start : start + half] for start in range(0, len(missing), half)]
    for chunk in batch:
        if chunk.id in passages:
            reader.unread.pop(chunk.id, None)
        else:
            reader.unread.setdefault(chunk.id, "no answer for this passage")
    return passages, None


def reading_request(
    author: str, corpus: Corpus, batch: Sequence[Chunk], claims: Sequence[Claim], asking: Questioner, turn: int,
    phase: str = "reading",
) -> Request:  # fmt: skip
    """Return the question about a batch: its passages, and the claims that they may take a stance to."""
    key = sha256(" ".join(chunk.id for chunk in batch).encode()).hexdigest()[:12]
    label = CallLabel("crux", phase, f"{author or 'everybody'}@{key}", turn)
    fence = asking.fence(label)
    lines: list[str] = []
    for number, chunk in enumerate(batch, start=1):
        item = corpus.by_id[chunk.item]
        entry = {"id": f"p{number}", "title": item.title, "date": item.date, "text": chunk.text}
        if not author:
            entry["speaker"] = item.speaker or ""
        if item.answers:
            entry["in answer to"] = item.answers
        if others := _others(chunk, item.quoted or ()):
            entry["not by the author"] = others
        lines.append(entry_line(**entry))
    shown = _shown(claims, " ".join(chunk.text for chunk in batch))
    known = "\n".join(entry_line(id=claim.id, claim=claim.text) for claim in shown)
    text = load_prompt("crux.claims", "reading").render(
        author=fence("AUTHOR", author or _EVERYBODY),
        passages=fence("PASSAGES", "\n".join(lines)),
        claims=fence("CLAIMS SO FAR", known or "none yet"),
        language=asking.language,
    )
    grammar = reading_grammar([_quotable(chunk.text) for chunk in batch], bool(shown))
    return replace(asking.request("reading", label, text), grammar=grammar)


def _quotable(text: str) -> list[str]:
    return [sentence for sentence in dict.fromkeys(sentences(text)) if find_quote(sentence, text) is not None]


def _others(chunk: Chunk, quoted: Sequence[tuple[int, int]]) -> str:
    """Return what of a passage the source marks as somebody else's words."""
    within = ((start, end) for start, end in quoted if start < chunk.end and chunk.start < end)
    return " […] ".join(chunk.text[max(0, start - chunk.start) : end - chunk.start] for start, end in within)


def _shown(claims: Sequence[Claim], words: str) -> list[Claim]:
    """Return the claims nearest to a batch, and those that came first and so are the commonest."""
    if len(claims) <= _NEAREST + _COMMONEST:
        return list(claims)
    near = [claims[place] for place, _ in Lexical.of([claim.text for claim in claims]).nearest(words, _NEAREST)]
    return list(dict.fromkeys((*near, *claims[:_COMMONEST])))


def _enter(reader: _Reader, batch: Sequence[Chunk], answer: dict[str, _ReadPassage]) -> None:
    """Enter the answer for a batch; a stance whose quotation does not stand in its passage is lost, and counted."""
    own: dict[str, str] = {}
    by_chunk = [(chunk, answer[chunk.id]) for chunk in batch if chunk.id in answer]
    for chunk, passage in by_chunk:
        reader.read[chunk.id] = None
        for entry in passage.claims[:_MOST_CLAIMS]:
            place = _place(reader.corpus, chunk, entry.quote)
            claim = _claim(reader, entry, own)
            if place is None or claim is None:
                reader.unquoted += 1
                continue
            stance = _stance(reader.corpus, place, entry.stance)
            reader.claims.setdefault(claim.id, claim)
            if entry.id:
                own[entry.id] = claim.id
            reader.mentions.append(Mention(claim=claim.id, author=reader.speaker(chunk), stance=stance, place=place))
    for chunk, passage in by_chunk:
        for entry in passage.claims[:_MOST_CLAIMS]:
            from_ = own.get(entry.id) or own.get(entry.ref, entry.ref)
            for target in entry.supports:
                to = own.get(target, target)
                if from_ in reader.claims and to in reader.claims and from_ != to:
                    _relate(reader, from_, to, reader.speaker(chunk))


def _relate(reader: _Reader, from_: str, to: str, author: str) -> None:
    if not any(one.from_ == from_ and one.to == to for one in reader.relations):
        reader.relations.append(Relation(from_=from_, to=to, kind="supports", author=author, origin="stated"))


def _claim(reader: _Reader, entry: _ReadClaim, own: dict[str, str]) -> Claim | None:
    """Return the claim that an entry means: one of the book, one of the same answer, or a new one."""
    ref = own.get(entry.ref, entry.ref)
    if ref in reader.claims:
        return reader.claims[ref]
    text = " ".join(_LEFT_OUT.sub(" ", entry.text).split())[:_MOST_WORDS]
    if not text:
        return None
    key = sha256(f"{reader.author}\0{text.casefold().rstrip('.')}".encode()).hexdigest()[:8]
    return reader.claims.get(f"c-{key}") or Claim(id=f"c-{key}", text=text, kind=entry.kind)


def _stance(corpus: Corpus, place: Place, stance: Stance) -> Stance:
    """Return the stance; words that the source marks as another's are reported, whatever the model says."""
    quoted = corpus.by_id[place.item].quoted or ()
    return "reports" if any(start < place.end and place.start < end for start, end in quoted) else stance


def _place(corpus: Corpus, chunk: Chunk, quote: str) -> Place | None:
    # What is left out is a habit of quoting, no other words: the longest part that stands there is the quotation.
    parts = sorted(_LEFT_OUT.split(quote), key=len, reverse=True)
    span = next((span for part in parts if (span := find_quote(part.strip(), chunk.text))), None)
    if BEHAVIOUR.before(6):
        return None if span is None else corpus.place(chunk.item, chunk.start + span[0], chunk.start + span[1])
    text, start = corpus.by_id[chunk.item].text, chunk.start
    if span is None:
        # A sentence that goes on in the next passage stands in the text all the same.
        start = 0
        span = next((span for part in parts if (span := find_quote(part.strip(), text))), None)
    return None if span is None else in_sentences(corpus, chunk.item, start + span[0], start + span[1])


def in_sentences(corpus: Corpus, item: str, start: int, end: int) -> Place:
    """Return a place extended to its whole sentences, with the sentence before."""
    text = corpus.by_id[item].text
    start, end = whole(text, start, end)
    paragraph = text[text.rfind("\n\n", 0, start) + 1 : start]
    before = neighbours(text, start, end)[0] if paragraph.strip() else ""
    return corpus.place(item, start, end).model_copy(update={"before": before or None})
