"""The terms of a text in any script: stems where a stemmer knows the language, grams of characters elsewhere."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from typing import Any

from crux.extras import library

FEATURE = "retrieval"
#: What Snowball calls otherwise: Bokmål is Norwegian to it. In Arabic grams found an inflected word, stems did not,
#: and the other two nobody tried.
_SNOWBALL = {"nb": "no", "ar": "", "st": "", "yi": ""}
#: Scripts written without spaces, and Hangul, whose words carry their particles: Thai to Khmer, Kana, Han, Hangul.
_UNSPACED = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff]+")
_ARABIC_SIGNS = re.compile("[\u0610-\u061a\u0640\u064b-\u065f\u0670]")
_LATIN_LEAST = 200
_SAMPLE = 20_000


class Tokenizer:
    """Cuts texts of one language into terms.

    Args:
        language: ISO 639-1. Words of a script without spaces become pairs of characters in every language; those
            of a language without a stemmer become triples within the word.

    Raises:
        MissingExtraError: the extra ``debate`` is not installed.
    """

    def __init__(self, language: str) -> None:
        self.language = language
        self._stem = _stemmer(language)
        self.stemmed = self._stem is not None

    def __call__(self, text: str) -> list[str]:
        """Return the terms of a text, in order, repeated ones too."""
        plain = _ARABIC_SIGNS.sub("", unicodedata.normalize("NFKC", text).casefold())
        whole: list[str] = []
        grams: list[str] = []
        for word in _words().findall(plain):
            if word.isascii():
                if len(word) > 1:
                    whole.append(word)
                continue
            rest = _UNSPACED.sub(" ", word)
            if rest != word:
                for run in _UNSPACED.findall(word):
                    grams += _grams(run, 2)
            whole += [part for part in rest.split() if len(part) > 1]
        if self._stem is not None:
            return [*self._stem(whole), *grams]
        return [*(gram for word in whole for gram in _grams(f"^{word}$", 3)), *grams]


def _stemmer(language: str) -> Callable[[list[str]], list[str]] | None:
    """Return Snowball's stems of a language; None where it knows none."""
    try:
        stemmer: Any = library("Stemmer", FEATURE).Stemmer(_SNOWBALL.get(language, language))
    except KeyError:
        return None
    return stemmer.stemWords


def language_of(texts: Iterable[str]) -> str:
    """Return the language that texts are mostly written in, ISO 639-1; English where there is too little to tell.

    Raises:
        MissingExtraError: the extra ``debate`` is not installed.
    """
    sample = ""
    for text in texts:
        sample += text[:2_000] + "\n"
        if len(sample) >= _SAMPLE:
            break
    letters = sum(char.isalpha() for char in sample)
    if not letters or (sample.isascii() and letters < _LATIN_LEAST):
        return "en"
    return str(library("py3langid", FEATURE).classify(sample[:_SAMPLE])[0])


def _grams(run: str, size: int) -> Sequence[str]:
    return [run[at : at + size] for at in range(len(run) - size + 1)] or [run]


@lru_cache(maxsize=1)
def _words() -> re.Pattern[str]:
    """Return what a word is: letters, digits, and the marks that scripts from Hebrew to Khmer write upon them."""
    marks = "".join(sign for sign in map(chr, range(0x300, 0x1800)) if unicodedata.category(sign)[0] == "M")
    return re.compile(rf"(?:[^\W_]|[{re.escape(marks)}])+")
