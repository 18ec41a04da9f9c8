"""Whether a quoted pattern really stands in what was judged, and where (FC16)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache

from fire_circle.behaviour import BEHAVIOUR
from fire_circle.case import Case
from fire_circle.layers import Layer
from fire_circle.results import PatternClaim, Place, Span
from llm_runtime.decoding import decoded, disguised
from llm_runtime.normal import normal, says_enough

MAX_QUOTE = 4_000
#: What an ellipsis may leave out, in characters.
_MAX_GAP = 2_000
_QUOTED = re.compile(r"[\"“]([^\"“”]{4,400})[\"”]")
_ELLIPSIS = re.compile(r"[\[(]?(?:…|\.{3,})[\])]?")
_EDGES = " \"'.,;:!?()[]<>"


def verify(claim: PatternClaim, case: Case, judged: Layer, shown: str) -> PatternClaim:
    """Return the claim with its places in what was judged, or with the reason why it has none.

    Texts are compared in their normal form, by whole words; an ellipsis may leave words out. The judged layer comes
    first, then the others, then the earlier turns; but a place that has the quote sign by sign comes before all
    others. What stands nowhere is looked for in what the texts say in another writing (since behaviour 4). A claim
    of plain words that holds a quotation is read as one with that quote.

    Args:
        shown: the whole text the seat was sent, to tell an invention from a quote of our own scaffold.
    """
    quote = (claim.quote or max(_QUOTED.findall(claim.description), key=len, default="")).strip()
    if not quote:
        return claim.model_copy(update={"dropped": "no_quote"})
    loose = [form for piece in _ELLIPSIS.split(quote) if (form := normal(piece).text.strip(_EDGES))]
    if not says_enough(max(loose, key=len, default="")):
        return claim.model_copy(update={"quote": quote[:MAX_QUOTE], "dropped": "too_short"})
    if len(quote) > MAX_QUOTE:
        return claim.model_copy(update={"quote": quote[:MAX_QUOTE], "dropped": "not_found"})
    others = (layer for layer in reversed(case.prompt.layers) if layer.name != judged.name)
    texts: dict[Place, str] = {layer.name: layer.text for layer in (judged, *others)}
    texts["earlier"] = case.earlier
    exact = [normal(quote).text]
    for parts in (exact, loose) if exact != loose else (exact,):
        if spans := [Span(layer=name, start=a, end=b) for name, text in texts.items() for a, b in _in(parts, text)]:
            spans.sort(key=lambda span: texts[span.layer][span.start : span.end] != quote)
            words = texts[spans[0].layer][spans[0].start : spans[0].end]
            return claim.model_copy(update={"quote": words, "span": spans[0], "also": tuple(spans[1:])})
    if spans := [] if BEHAVIOUR.before(4) else list(_otherwise(loose, texts)):
        return claim.model_copy(update={"quote": quote, "span": spans[0], "also": tuple(spans[1:])})
    reason = "scaffold" if any(True for _ in _in(loose, _ours(shown, *case.texts))) else "not_found"
    return claim.model_copy(update={"quote": quote, "dropped": reason})


def _otherwise(parts: list[str], texts: Mapping[Place, str]) -> Iterator[Span]:
    for name, text in texts.items():
        yield from (
            Span(layer=name, start=one.start, end=one.end) for one in decoded(text) if any(_in(parts, one.text))
        )
        rotated, behind = zip(*map(disguised, parts), strict=True)
        for turned in (list(rotated), list(reversed(behind))):
            yield from (Span(layer=name, start=start, end=end) for start, end in _in(turned, text))


@lru_cache(maxsize=16)
def _ours(shown: str, *texts: str) -> str:
    """Return what is left of a request without the texts that it is about: all of them were looked through."""
    for text in filter(None, texts):
        shown = shown.replace(text, "\n")
    return shown


def _in(parts: list[str], original: str) -> Iterator[tuple[int, int]]:
    """Yield where all parts stand in a text in their order, each close behind the one before it."""
    text = normal(original)
    for start, end in text.places(parts[0]):
        last = end
        for part in parts[1:]:
            follows = next((place for place in text.places(part) if 0 <= place[0] - last <= _MAX_GAP), None)
            if follows is None:
                break
            last = follows[1]
        else:
            yield start, last
