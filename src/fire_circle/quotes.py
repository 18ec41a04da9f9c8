"""Whether a quoted pattern really stands in what was judged, and where (FC16)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from fire_circle.layers import Layer, MultiNeutrosophicPrompt
from fire_circle.results import PatternClaim, Place, Span
from llm_runtime.normal import Normal, normal, says_enough

MAX_QUOTE = 4_000
#: What an ellipsis may leave out, in characters.
_MAX_GAP = 2_000
_QUOTED = re.compile(r"[\"“]([^\"“”]{4,400})[\"”]")
_ELLIPSIS = re.compile(r"[\[(]?(?:…|\.{3,})[\])]?")
_EDGES = " \"'.,;:!?()[]<>"


def verify(
    claim: PatternClaim, prompt: MultiNeutrosophicPrompt, judged: Layer, shown: str, earlier: str = ""
) -> PatternClaim:
    """Return the claim with its places in what was judged, or with the reason why it has none.

    Texts are compared in their normal form, by whole words; an ellipsis may leave words out. The judged layer comes
    first, then the others, then the earlier turns; but a place that has the quote sign by sign comes before all
    others. A claim of plain words that holds a quotation is read as one with that quote.

    Args:
        shown: the whole text the seat was sent, to tell an invention from a quote of our own scaffold.
        earlier: the turns before the prompt, as they were shown.
    """
    quote = (claim.quote or _longest_quotation(claim.description)).strip()
    if not quote:
        return claim.model_copy(update={"dropped": "no_quote"})
    loose = [form for piece in _ELLIPSIS.split(quote) if (form := _stripped(piece))]
    if not says_enough(max(loose, key=len, default="")):
        return claim.model_copy(update={"quote": quote[:MAX_QUOTE], "dropped": "too_short"})
    if len(quote) > MAX_QUOTE:
        return claim.model_copy(update={"quote": quote[:MAX_QUOTE], "dropped": "not_found"})
    others = (layer for layer in reversed(prompt.layers) if layer.name != judged.name)
    texts: dict[Place, str] = {layer.name: layer.text for layer in (judged, *others)}
    if earlier:
        texts["earlier"] = earlier
    exact = [normal(quote).text]
    for parts in (exact, loose) if exact != loose else (exact,):
        spans = [
            Span(layer=name, start=start, end=end)
            for name, text in texts.items()
            for start, end in _places(parts, normal(text))
        ]
        if spans:
            spans.sort(key=lambda span: texts[span.layer][span.start : span.end] != quote)
            first, *also = spans
            words = texts[first.layer][first.start : first.end]
            return claim.model_copy(update={"quote": words, "span": first, "also": tuple(also)})
    reason = "scaffold" if any(True for _ in _places(loose, normal(_ours(shown, *texts.values())))) else "not_found"
    return claim.model_copy(update={"quote": quote, "dropped": reason})


@lru_cache(maxsize=16)
def _ours(shown: str, *texts: str) -> str:
    """Return what is left of a request without the texts that it is about: all of them were looked through."""
    for text in texts:
        shown = shown.replace(text, "\n")
    return shown


def _longest_quotation(description: str) -> str:
    return max(_QUOTED.findall(description), key=len, default="")


def _stripped(piece: str) -> str:
    return normal(piece).text.strip(_EDGES)


def _places(parts: list[str], text: Normal) -> Iterator[tuple[int, int]]:
    """Yield where all parts stand in their order, each close behind the one before it."""
    for start, end in text.places(parts[0]):
        last = end
        for part in parts[1:]:
            follows = next((place for place in text.places(part) if 0 <= place[0] - last <= _MAX_GAP), None)
            if follows is None:
                break
            last = follows[1]
        else:
            yield start, last
