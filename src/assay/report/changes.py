"""What is new in a text compared with an earlier one: whole sentences first, words within the ones that remain."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from difflib import SequenceMatcher

from assay.report.story import Range

_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|\n+")
_TOKEN = re.compile(r"[^\W_]+|\s+|_|[^\w\s]")
_LINE_NUMBER = re.compile(r"(?m)^[ \t>]*\d+(?=[.)])")
_JOINS = frozenset(" \t,.;:'’–—?\"“”%")
"""What may stand inside a mark: it never opens or closes anything in Markdown."""

_ALIKE = 0.5
"""Below this share of common words a sentence counts as new instead of reworded; words are then not compared."""
_MOST_COMPARISONS = 60_000
"""Pairs of sentences that are compared, which bounds the work on giant texts to part of a second."""
_MOST_WORDS = 300
"""Words of a sentence that are compared in their order, which takes up to the cube of their number."""


@dataclass(frozen=True, slots=True)
class Changes:
    """The difference to an earlier text.

    Args:
        marks: ranges of the new text that are new; ascending, apart, none across a line end.
        dropped: sentences of the earlier text that have no successor.
        share: how much of the new text is new, in words, 0.0 to 1.0.
    """

    marks: tuple[Range, ...]
    dropped: tuple[str, ...]
    share: float


@dataclass(frozen=True, slots=True)
class _Sentence:
    start: int
    text: str
    words: Counter[str]

    @property
    def key(self) -> str:
        return " ".join(self.text.split())


def changes(before: str, after: str) -> Changes:
    """Compare ``after`` with ``before``. A sentence that only moved is not a change."""
    old, new = _sentences(before), _sentences(after)
    unchanged = {sentence.key for sentence in old} & {sentence.key for sentence in new}
    orphans = [sentence for sentence in old if sentence.key not in unchanged]
    candidates = orphans[: _MOST_COMPARISONS // max(len(new), 1)]
    touched: set[int] = set()
    taken: set[int] = set()
    for sentence in new:
        if sentence.key in unchanged:
            continue
        ancestor = _ancestor(sentence, candidates)
        if ancestor is None:
            touched.update(range(sentence.start, sentence.start + len(sentence.text)))
        else:
            taken.add(candidates[ancestor].start)
            touched.update(_reworded(candidates[ancestor], sentence))
    words = _words(after)
    fresh = [word for word in words if word[0] in touched]
    dropped = tuple(sentence.text.strip() for sentence in orphans if sentence.start not in taken)
    return Changes(tuple(_joined(after, fresh)), dropped, len(fresh) / len(words) if words else 0.0)


def marked_spans(text: str, marks: tuple[Range, ...]) -> list[tuple[str, bool]]:
    """Cut ``text`` into pieces, each with whether it is marked; joined, the pieces are the text."""
    spans: list[tuple[str, bool]] = []
    at = 0
    for start, end in marks:
        spans += [(text[at:start], False), (text[start:end], True)]
        at = end
    spans.append((text[at:], False))
    return [span for span in spans if span[0]]


def _sentences(text: str) -> list[_Sentence]:
    sentences: list[_Sentence] = []
    start = 0
    for end in [match.end() for match in _SENTENCE_END.finditer(text)] + [len(text)]:
        piece = text[start:end]
        if piece.strip():
            sentences.append(
                _Sentence(
                    start, piece, Counter(token.lower() for token in _TOKEN.findall(piece) if _is_word(token))
                )
            )
        start = end
    return sentences


def _ancestor(sentence: _Sentence, candidates: list[_Sentence]) -> int | None:
    """Find the earlier sentence with most words in common (Dice); ``None`` where even that one has too few."""
    best, where = _ALIKE, None
    size = sentence.words.total()
    for index, candidate in enumerate(candidates):
        both = size + candidate.words.total()
        alike = 2 * (sentence.words & candidate.words).total() / both if both else 0.0
        if alike > best:
            best, where = alike, index
    return where


def _reworded(before: _Sentence, after: _Sentence) -> list[int]:
    """Return the offsets of the words of ``after`` that are not at that place in ``before``."""
    old = [token.lower() for token in _TOKEN.findall(before.text) if _is_word(token)]
    new = _words(after.text)
    if max(len(old), len(new)) > _MOST_WORDS:
        return [after.start + start for start, end in new if after.text[start:end].lower() not in before.words]
    matcher = SequenceMatcher(None, old, [after.text[start:end].lower() for start, end in new], autojunk=False)
    return [
        after.start + new[index][0]
        for kind, _, _, first, last in matcher.get_opcodes()
        if kind in ("insert", "replace")
        for index in range(first, last)
    ]


def _words(text: str) -> list[Range]:
    numbers = {match.end() for match in _LINE_NUMBER.finditer(text)}
    return [
        match.span() for match in _TOKEN.finditer(text) if _is_word(match.group()) and match.end() not in numbers
    ]


def _joined(text: str, words: list[Range]) -> list[Range]:
    """Join neighbouring words with nothing but spaces and plain punctuation between them into one range."""
    ranges: list[Range] = []
    for start, end in words:
        gap = text[ranges[-1][1] : start] if ranges else "\n"
        if gap == "-" or set(gap) <= _JOINS:
            ranges[-1] = ranges[-1][0], end
        else:
            ranges.append((start, end))
    return ranges


def _is_word(token: str) -> bool:
    return token[0].isalnum()
