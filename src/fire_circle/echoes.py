"""Whether a judge's calm answer is only a copy of what the text under judgement would have it say."""

from __future__ import annotations

from functools import lru_cache

from fire_circle.answers import BoundAnswer, labelled
from llm_runtime.decoding import decoded, disguised
from llm_runtime.normal import normal

#: Fewer signs may stand in a text by chance; with the very scores beside them they do not.
_LEAST_COPY = 24


def echoes(answer: BoundAnswer, texts: tuple[str, ...]) -> bool:
    """Tell whether the reasoning, or scores that were read out of prose, stand in a text, in whatever writing.

    An answer that raises the alarm is none: nobody who attacks dictates that.
    """
    if answer.alarms or answer.abstains:
        return False
    said = normal(answer.reasoning).text
    copied = any(one in form for form in _forms(texts) for one in (said, *disguised(said)))
    scores = {("truth", answer.truth), ("indeterminacy", answer.indeterminacy), ("falsehood", answer.falsehood)}
    return copied and (len(said) >= _LEAST_COPY or scores <= _dictated(texts))


def dictates(texts: tuple[str, ...], answer: BoundAnswer) -> bool:
    """Tell whether a calm F that was read out of prose stands in a text, in whatever writing."""
    return not answer.alarms and ("falsehood", answer.falsehood) in _dictated(texts)


@lru_cache(maxsize=4)
def _forms(texts: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(normal(one).text for text in texts for one in (text, *(inner.text for inner in decoded(text))))


@lru_cache(maxsize=4)
def _dictated(texts: tuple[str, ...]) -> frozenset[tuple[str, float | None]]:
    written = (one for form in _forms(texts) for one in (form, *disguised(form)))
    return frozenset(score for one in written for score in labelled(one))
