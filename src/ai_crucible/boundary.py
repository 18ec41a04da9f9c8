"""The sealed boundary's alarm: rank and standings live apart from the scored context, and are found if they leak.

The text is compared the way a reader would see it: case, width, accents, zero-width characters, look-alike digits
and numbers written as words make no difference.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, cast

from ai_crucible.types import AttemptState
from llm_runtime.toml import own_table

_NUMBERS: dict[str, dict[str, int]] = own_table(__package__ or "", "numbers.toml")
_ONES, _TENS = _NUMBERS["ones"], _NUMBERS["tens"]
_SPELLED = re.compile(
    rf"\b(?:({'|'.join(_TENS)})(?: ({'|'.join(word for word, value in _ONES.items() if 0 < value < 10)}))?"
    rf"|({'|'.join(_ONES)}))\b"
)
"""Tens, maybe with ones behind them, or a number below twenty, in words."""
_ORDINAL = re.compile(r"^(\d+)(?:st|nd|rd|th)$")
_SHORTEST = 5
_TOKEN = re.compile(r"[^\W_]+")
# Latin letters are often borrowed from these; not a whole confusables table, which would forbid honest Greek.
_LOOKALIKES = str.maketrans("аеорсухіѕԁɡ", "aeopcyxisdg")


def normal_words(text: str) -> list[str]:
    """Return the words of a text as a reader sees them, numbers as digits.

    >>> normal_words("Ｒａｎｋ: se\\u200bven of Twenty-one")
    ['rank', '7', 'of', '21']
    """
    folded = unicodedata.normalize("NFKD", text).casefold()
    visible = "".join(c for c in folded if unicodedata.category(c) not in ("Cf", "Mn", "Me", "Cc") or c in "\n\t\r ")
    digits = "".join(str(unicodedata.digit(c)) if c.isdigit() else c for c in visible)
    return _numbers(_TOKEN.findall(digits.translate(_LOOKALIKES)))


def _numbers(words: Iterable[str]) -> list[str]:
    def value(found: re.Match[str]) -> str:
        return str(_TENS.get(found[1], 0) + _ONES.get(found[2] or found[3], 0))

    return [_ORDINAL.sub(r"\1", word) for word in _SPELLED.sub(value, " ".join(words)).split()]


def chrome_phrases(chrome: Mapping[str, Any]) -> list[str]:
    """Return what must not be read in the scored context: every entry's text, and every name with its value.

    A bare number or a single short word says nothing by itself and would be found everywhere, so it is looked for
    only together with its name.
    """
    return [phrase for name, value in chrome.items() for phrase in _phrases(name, value)]


def _phrases(name: str, value: Any) -> Iterator[str]:
    if isinstance(value, Mapping):
        for key, item in cast(Mapping[str, Any], value).items():
            yield from _phrases(str(key), item)
    elif isinstance(value, list | tuple):
        for item in cast("list[Any] | tuple[Any, ...]", value):
            yield from _phrases(name, item)
    elif value is not None:
        yield f"{name} {value}"
        if len(normal_words(str(value))) > 1 or len(str(value)) >= 8:
            yield str(value)


def leaks(chrome: Mapping[str, Any], texts: Iterable[str]) -> list[str]:
    """Return the phrases of the chrome read in the texts; their words may be a word apart ("rank is 3")."""
    haystacks = [normal_words(text) for text in texts]
    matches: list[str] = []
    for phrase in chrome_phrases(chrome):
        words = normal_words(phrase)
        if words and any(_spelled_out(words, text) or _occurs(words, text) for text in haystacks):
            matches.append(phrase)
    return matches


def _spelled_out(needle: list[str], haystack: list[str]) -> bool:
    """Tell whether the phrase is there with blanks in other places ("r a n k 3"), from word end to word end."""
    joined = "".join(needle)
    if len(joined) < _SHORTEST:
        return False
    return re.search(f"(?<= ){' ?'.join(map(re.escape, joined))}(?= )", " " + " ".join(haystack) + " ") is not None


def _occurs(needle: list[str], haystack: list[str], slack: int = 1) -> bool:
    starts = (index for index, word in enumerate(haystack) if word == needle[0])
    return any(_follows(needle, haystack, start, slack) for start in starts)


def _follows(needle: list[str], haystack: list[str], start: int, slack: int) -> bool:
    place = start
    for word in needle[1:]:
        window = haystack[place + 1 : place + 2 + slack]
        if word not in window:
            return False
        place += 1 + window.index(word)
    return True


def leaked(state: AttemptState) -> list[str]:
    """Return what of an attempt's chrome stands in its scored context: in any role's words or tool arguments."""
    if not state.chrome:
        return []
    texts = [line.content for line in state.messages]
    texts += [str(call.arguments) for line in state.messages for call in line.calls]
    return leaks(state.chrome, texts)
