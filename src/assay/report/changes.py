"""What is new in a text compared with an earlier one: whole sentences first, words within the ones that remain."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from difflib import SequenceMatcher

from assay.report.clean import one_line
from assay.report.story import Range, Sign
from llm_runtime.structs import Struct

_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|\n+")
#: Vowel signs, accents and joiners: a word of a script that spells with them is not cut at them.
_SPELLING = "".join(sign for sign in map(chr, range(0x300, 0x1E00)) if unicodedata.category(sign)[0] == "M")
_TOKEN = re.compile(rf"[^\W_](?:[^\W_]|[{_SPELLING}\u200c\u200d])*|\s+|_|[^\w\s]")
_LINE_NUMBER = re.compile(r"(?m)^[ \t>]*\d+(?=[.)])")
_JOINS = frozenset(" \t,.;:'’–—?\"“”%")
"""What may stand inside a mark: it never opens or closes anything in Markdown."""

_ALIKE = 0.5
"""Below this share of common words a sentence counts as new instead of reworded; words are then not compared."""
_MOST_COMPARISONS = 60_000
"""Pairs of sentences that are compared, which bounds the work on giant texts to part of a second."""
_MOST_WORDS = 300
"""Words of a sentence that are compared in their order, which takes up to the cube of their number."""
_MARKUP = re.compile(r"[*_`#|\[\]]+")


class Changes(Struct):
    """The difference to an earlier text.

    Args:
        marks: ranges of the new text that are new; ascending, apart, none across a line end.
        gone: words of reworded sentences that are not there any more, each at its place in the new text; ascending.
        dropped: sentences of the earlier text that have no successor.
        share: how much of the new text is new, in words, 0.0 to 1.0.
    """

    marks: tuple[Range, ...]
    gone: tuple[Sign, ...]
    dropped: tuple[str, ...]
    share: float


class Sentence(Struct):
    """A sentence or a line of a text: where it begins, with the blanks behind it, and its words folded."""

    start: int
    text: str
    words: Counter[str]

    @property
    def key(self) -> str:
        """What two sentences have in common that differ in blanks alone."""
        return " ".join(self.text.split())


def changes(before: str, after: str) -> Changes:
    """Compare ``after`` with ``before``. A sentence that only moved is not a change."""
    old, new = sentences(before), sentences(after)
    unchanged = {sentence.key for sentence in old} & {sentence.key for sentence in new}
    orphans = [sentence for sentence in old if sentence.key not in unchanged]
    candidates = orphans[: _MOST_COMPARISONS // max(len(new), 1)]
    touched, taken, gone = set[int](), set[int](), list[Sign]()
    for sentence in new:
        if sentence.key in unchanged:
            continue
        ancestor = _ancestor(sentence, candidates)
        if ancestor is None:
            touched.update(range(sentence.start, sentence.start + len(sentence.text)))
        else:
            taken.add(candidates[ancestor].start)
            fresh, lost = _reworded(candidates[ancestor], sentence)
            touched.update(fresh)
            gone += lost
    words = _words(after)
    marked = [word for word in words if word[0] in touched]
    dropped = tuple(sentence.text.strip() for sentence in orphans if sentence.start not in taken)
    share = len(marked) / len(words) if words else 0.0
    return Changes(tuple(_joined(after, marked)), tuple(sorted(gone)), dropped, share)


def word_ranges(text: str, start: int, end: int) -> list[Range]:
    """Return the ranges between ``start`` and ``end`` that marks may stand around without touching Markdown."""
    return _joined(text, [word for word in _words(text) if start <= word[0] and word[1] <= end])


def sentences(text: str) -> list[Sentence]:
    """Cut a text at the ends of sentences and lines."""
    sentences: list[Sentence] = []
    start = 0
    for end in [match.end() for match in _SENTENCE_END.finditer(text)] + [len(text)]:
        piece = text[start:end]
        if piece.strip():
            words = Counter(token.lower() for token in _TOKEN.findall(piece) if _is_word(token))
            sentences.append(Sentence(start, piece, words))
        start = end
    return sentences


def _ancestor(sentence: Sentence, candidates: list[Sentence]) -> int | None:
    """Find the earlier sentence with most words in common (Dice); ``None`` where even that one has too few."""
    best, where = _ALIKE, None
    size = sentence.words.total()
    for index, candidate in enumerate(candidates):
        both = size + candidate.words.total()
        alike = 2 * (sentence.words & candidate.words).total() / both if both else 0.0
        if alike > best:
            best, where = alike, index
    return where


def _reworded(before: Sentence, after: Sentence) -> tuple[list[int], list[Sign]]:
    """Return where words of ``after`` begin that are not at that place in ``before``, and what stood there."""
    old, new = [_words(sentence.text) for sentence in (before, after)]
    if max(len(old), len(new)) > _MOST_WORDS:
        return [after.start + start for start, end in new if after.text[start:end].lower() not in before.words], []
    fresh, gone = list[int](), list[Sign]()
    texts = [[s.text[start:end].lower() for start, end in w] for s, w in ((before, old), (after, new))]
    for kind, first, last, start, end in SequenceMatcher(None, *texts, autojunk=False).get_opcodes():
        if kind != "equal":
            fresh += [after.start + word[0] for word in new[start:end]]
        if kind in ("delete", "replace"):
            words = one_line(_MARKUP.sub("", before.text[old[first][0] : old[last - 1][1]]))
            gone.append((after.start + (new[start][0] if start < len(new) else new[-1][1]), words))
    return fresh, gone


def _words(text: str) -> list[Range]:
    numbers = {match.end() for match in _LINE_NUMBER.finditer(text)}
    return [match.span() for match in _TOKEN.finditer(text) if _is_word(match.group()) and match.end() not in numbers]


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
