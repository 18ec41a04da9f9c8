"""Whether a quoted pattern really stands in the prompt under test, and where (FC16)."""

from __future__ import annotations

import re
from bisect import bisect_right
from itertools import accumulate

from fire_circle.layers import Layer, MultiNeutrosophicPrompt
from fire_circle.results import PatternClaim, Span

MAX_QUOTE = 4_000
_LEAST_SIGNS = 4
_MARKS = str.maketrans({"“": '"', "”": '"', "‘": "'", "’": "'", "\u00a0": " "})
_WORD = re.compile(r"\S+")
_QUOTED = re.compile(r"[\"“]([^\"“”]{4,400})[\"”]")


def verify(claim: PatternClaim, prompt: MultiNeutrosophicPrompt, judged: Layer, shown: str) -> PatternClaim:
    """Return the claim with its place in the prompt, or with the reason why it has none.

    The judged layer is searched first. White space may be folded and quotation marks straightened, as models do
    when they copy; nothing else may differ. A claim of plain words that holds a quotation is read as one with that
    quote.

    Args:
        shown: the whole text the seat was sent, to tell an invention from a quote of our own scaffold.
    """
    quote = (claim.quote or _longest_quotation(claim.description)).strip()
    if not quote:
        return claim.model_copy(update={"dropped": "no_quote"})
    if sum(char.isalnum() for char in quote) < _LEAST_SIGNS:
        return claim.model_copy(update={"quote": quote, "dropped": "too_short"})
    others = (layer for layer in reversed(prompt.layers) if layer.name != judged.name)
    for layer in (judged, *others):
        if place := _find(quote, layer.text):
            start, end = place
            span = Span(layer=layer.name, start=start, end=end)
            return claim.model_copy(update={"quote": layer.text[start:end], "span": span})
    reason = "scaffold" if _find(quote, shown) else "not_found"
    return claim.model_copy(update={"quote": quote[:MAX_QUOTE], "dropped": reason})


def _longest_quotation(description: str) -> str:
    return max(_QUOTED.findall(description), key=len, default="")


def _find(quote: str, text: str) -> tuple[int, int] | None:
    if len(quote) > MAX_QUOTE:
        return None
    if (at := text.find(quote)) >= 0:
        return at, at + len(quote)
    return _find_folded(" ".join(quote.translate(_MARKS).split()), text.translate(_MARKS))


def _find_folded(quote: str, text: str) -> tuple[int, int] | None:
    """Find the quote with every run of white space taken as one space; linear, whatever the quote."""
    words = list(_WORD.finditer(text))
    at = " ".join(word[0] for word in words).find(quote)
    if at < 0:
        return None
    begins = list(accumulate((len(word[0]) + 1 for word in words), initial=0))

    def place(folded: int) -> int:
        number = bisect_right(begins, folded) - 1
        return words[number].start() + folded - begins[number]

    return place(at), place(at + len(quote) - 1) + 1
