"""A claim book carried over to texts that were imported anew: sentences are found again by their content.

As in W3C's TextQuoteSelector, a sentence is looked for by its words, and where these stand more than once, by what
stands before and after. So a notice above a text, another line width, a file's new name or a feed's new id cost
nothing. A passage is read where all its sentences were read before; one whose sentence is lost is read again.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from crux.book import ClaimBook, Mention
from crux.personas.corpus import Chunk, Corpus, sentence_spans
from crux.quotes import places_of
from crux.results import Place
from crux.sources.utterance import Utterance

#: Characters before and after a sentence that tell it from an equal one.
_AROUND = 80


def carried(book: ClaimBook, old: Corpus, new: Corpus) -> ClaimBook:
    """Return a book of ``old`` texts as one of the ``new`` texts.

    A mention whose sentence is gone goes with it; its claim stays, so that a later reading names it again. Of a
    group's book everybody bears the name that the new texts give them.
    """
    told = [_found(one, old, new, any(not by.name for by in book.authors)) for one in book.mentions]
    lost = {_words(one.place.quote) for one, found in zip(book.mentions, told, strict=True) if found is None}
    before = {key for author in book.authors for key in author.read}
    known = {words for chunk in old.chunks if chunk.id in before for words in _sentences(old, chunk)}
    kept = (chunk for chunk in new.chunks if all(words in known for words in _sentences(new, chunk)))
    read = [chunk.id for chunk in kept if not any(one in _words(chunk.text) for one in lost)]
    authors = tuple(one.model_copy(update={"read": tuple(read)}) for one in book.authors)
    names = {one.author: found.author for one, found in zip(book.mentions, told, strict=True) if found}
    relations = (one.model_copy(update={"author": names.get(one.author, one.author)}) for one in book.relations)
    return book.changed(mentions=tuple(filter(None, told)), authors=authors, relations=tuple(relations))


def _sentences(corpus: Corpus, chunk: Chunk) -> Iterator[str]:
    text = corpus.by_id[chunk.item].text
    return (_words(text[start:end]) for start, end in sentence_spans(text, chunk.start, chunk.end))


def _words(text: str) -> str:
    """Return a sentence without what a change of format changes: white space, marks of headings and quotations."""
    return re.sub(r"[\s>#*_`]+", " ", text).strip().casefold()


def _found(mention: Mention, old: Corpus, new: Corpus, group: bool) -> Mention | None:
    place, spots = mention.place, _spots(mention.place, new)
    if not spots:
        return None
    nearest = max(spots, key=lambda spot: (group and spot[0].speaker == mention.author, *_nearness(place, spot, old)))
    item, (start, end) = nearest
    stance = mention.stance if item.own(start, end) else "reports"
    now = {"place": _placed(new, item, start, end, place), "stance": stance}
    return mention.model_copy(update={**now, "author": (item.speaker if group else "") or mention.author})


def _spots(place: Place, new: Corpus) -> list[tuple[Utterance, tuple[int, int]]]:
    """Return where a sentence may stand: where it stood, or else wherever its words do."""
    here = new.by_id.get(place.item)
    if here is not None and here.text[place.start : place.end] == place.quote:
        return [(here, (place.start, place.end))]
    same = [one for one in new.items if place.quote in one.text] or new.items
    return [(one, span) for one in same for span in places_of(place.quote, one.text)]


def _placed(corpus: Corpus, item: Utterance, start: int, end: int, old: Place) -> Place:
    stands = bool(old.before) and item.text[:start].rstrip().endswith(old.before or "")
    return corpus.place(item.id, start, end).model_copy(update={"before": old.before if stands else None})


def _nearness(place: Place, spot: tuple[Utterance, tuple[int, int]], old: Corpus) -> tuple[int, bool, int]:
    """Return how much a place is like the old one: by the words around it, by its text, by how far it moved."""
    item, (start, end) = spot
    around = 0
    if (was := old.by_id.get(place.item)) is not None:
        around = _common(was.text[: place.start][::-1], item.text[:start][::-1])
        around += _common(was.text[place.end :], item.text[end:])
    return around, item.id == place.item, -abs(start - place.start)


def _common(first: str, second: str) -> int:
    pairs = zip(first[:_AROUND], second[:_AROUND], strict=False)
    return next((count for count, (a, b) in enumerate(pairs) if a != b), min(len(first), len(second), _AROUND))
