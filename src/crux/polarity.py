"""Whether two short statements say opposite things: the veto on merging by likeness.

A statement is nearer to its own negation than to its paraphrase in every embedding we tried, TF-IDF included, so
whatever merges by distance (concepts, cruxes of several debates) asks here first (CX11, CX16, CX27).
"""

from __future__ import annotations

import re
from functools import lru_cache

_WORD = re.compile(r"[a-z]+(?:'[a-z]+)?")
_NEGATIONS = """
no not never nor neither cannot none nobody nothing nowhere without hardly scarcely barely lack lacks lacking fail
fails failed failing refuse refuses false wrong isn't aren't wasn't weren't don't doesn't didn't
can't couldn't won't wouldn't shouldn't mustn't hasn't haven't hadn't ain't against reject rejects deny denies
"""
_NEGATORS = frozenset(_NEGATIONS.split())
_ANTONYMS = (
    ("increase increases increased raise raises raised rise rises grow grows more higher", "decrease decreases "
     "decreased reduce reduces reduced lower lowers lowered fall falls shrink shrinks less fewer"),
    ("help helps protect protects strengthen strengthens preserve preserves secure secures improve improves",
     "harm harms endanger endangers weaken weakens destroy destroys undermine undermines worsen worsens threaten "
     "threatens"),
    ("good better best safe safer just fair benefit benefits", "bad worse worst dangerous harmful"),
    ("enable enables allow allows cause causes encourage encourages", "prevent prevents forbid forbids block "
     "blocks discourage discourages stop stops"),
    ("necessary required essential", "needless superfluous"),
    ("large larger great big extensive extended", "small smaller little limited"),
    ("same", "different"),
    ("evaporate evaporated evaporates cease ceased vanish vanished", "moved move moves displaced shifted"),
    ("with", "without"),
    ("true", "false"),
    ("support supports favour favours favor favors", "oppose opposes"),
    ("centralise centralised centralized central national", "decentralised decentralized local"),
    ("public open", "secret hidden private"),
    ("always", "never"),
    ("all every", "no none"),
)  # fmt: skip
_SIDE: dict[str, tuple[int, int]] = {
    word: (pair, side)
    for pair, words in enumerate(_ANTONYMS)
    for side, text in enumerate(words)
    for word in text.split()
}
_FUNCTION_WORDS = """
a an the of to in on at by for from and or but is are was were be been being it its that this these those as than
then do does did will would shall should can could may might must has have had who whom which what whether if so
such there their them they you he she his her our we your i my
"""
_STOP = frozenset(_FUNCTION_WORDS.split())
_PREFIXES = ("un", "in", "im", "ir", "il", "non", "dis")


@lru_cache(maxsize=16_384)
def content_words(text: str) -> frozenset[str]:
    """Return the words that carry a statement, roughly stemmed; negators and function words are left out."""
    words = _WORD.findall(text.lower().replace("’", "'"))
    return frozenset(_stem(word) for word in words if word not in _STOP and word not in _NEGATORS and len(word) > 2)


def opposed(first: str, second: str) -> bool:
    """Tell whether the two differ by a negation or an antonym while they speak of the same thing.

    The rule: they share at least half of the smaller set of content words, and an odd number of negations and
    antonym pairs stands between them.
    """
    left, right = content_words(first), content_words(second)
    common = left & right
    pairs = _antonym_pairs(first, second)
    smaller = min(len(left - pairs), len(right - pairs))
    if smaller and 2 * len(common - pairs) < smaller:
        return False
    turns = (_negations(first) ^ _negations(second)) + _opposite_sides(first, second)
    turns += sum(1 for word in left ^ right if _negated_form(word, left | right))
    return turns % 2 == 1


@lru_cache(maxsize=16_384)
def _negations(text: str) -> int:
    """Return the parity of the negators in a text."""
    words = _WORD.findall(text.lower().replace("’", "'"))
    return sum(word in _NEGATORS for word in words) % 2


@lru_cache(maxsize=16_384)
def _sides(text: str) -> dict[int, frozenset[int]]:
    found: dict[int, set[int]] = {}
    for word in _WORD.findall(text.lower()):
        if word in _SIDE:
            pair, side = _SIDE[word]
            found.setdefault(pair, set()).add(side)
    return {pair: frozenset(sides) for pair, sides in found.items()}


def _opposite_sides(first: str, second: str) -> int:
    left, right = _sides(first), _sides(second)
    return sum(
        len(left[pair]) == len(right[pair]) == 1 and left[pair] != right[pair] for pair in left.keys() & right
    )


def _antonym_pairs(first: str, second: str) -> frozenset[str]:
    """Return the stems of words on the two sides of one antonym pair: they are the turn, not the subject."""
    both = _sides(first).keys() & _sides(second).keys()
    words = _WORD.findall(f"{first} {second}".lower())
    return frozenset(_stem(word) for word in words if word in _SIDE and _SIDE[word][0] in both)


def _negated_form(word: str, words: frozenset[str]) -> bool:
    """Tell whether ``word`` is "un-", "in-", ... before another of the words."""
    return any(word.startswith(prefix) and word[len(prefix) :] in words for prefix in _PREFIXES)


def _stem(word: str) -> str:
    for ending in ("'s", "ies", "ing", "edly", "ed", "ly", "es", "s"):
        if word.endswith(ending) and len(word) - len(ending) >= 4:
            return word[: -len(ending)] + ("y" if ending == "ies" else "")
    return word
