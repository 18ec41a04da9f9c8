"""Card quality: specificity, falsifiers, recurrence."""

from __future__ import annotations

import re
from collections.abc import Sequence

from crux.insight.crux_graph import Ties, worded
from crux.measurement.share import Share, share
from crux.measurement.words import Rarity
from crux.personas.persona import Persona
from crux.results import CamelModel, CruxCard

_MEASURED = re.compile(
    r"\d|\b(?:percent|half|third|quarter|double|twice|majority|more than|fewer than|less than|at least|within|"
    r"by the (?:end|year)|count(?:s|ed)?|survey(?:s|ed)?|trial|measure[ds]?|record(?:s|ed)?|census|vote[ds]?"
    r"|draw(?:n)? by lot|show(?:s|n|ed)?|find(?:s)?|found|prove[sdn]?|fail(?:s|ed)?|rise[sn]?|fall(?:s|en)?)\b",
    re.IGNORECASE,
)
_CONDITION = re.compile(r"\b(?:if|when|once|unless|were|should)\b", re.IGNORECASE)
_EMPTY = re.compile(
    r"\b(?:better|good|strong|compelling|convincing|new|more) (?:evidence|arguments?|data|reasons?)\b"
    r"|\bproven wrong\b",
    re.IGNORECASE,
)
_HEAD_WORDS = "is are was were do does did has have had can could will would should must may might shall whether if"
_HEADS = frozenset(_HEAD_WORDS.split())
_LEAST_WORDS = 6


class CardQuality(CamelModel):
    """The third table.

    Args:
        specificity: by card id, the mean idf of the question's words in the debaters' passages; 1 and up.
        answerable: questions that can be answered yes or no and name something: at least three content words, and
            a form of "be", "do", "have" or a modal verb, or "whether", at the head. A stand-in for the human "could
            this be resolved with evidence?".
        falsifiers: sides that have a falsifier at all.
        concrete_falsifiers: of these, those with a condition, something that could be observed or counted, at least
            six words, and no mere "better evidence". A stand-in for the human "does this name a condition?".
        cited: positions that cite at least one message of their own speaker.
    """

    specificity: dict[str, float]
    answerable: Share
    falsifiers: Share
    concrete_falsifiers: Share
    cited: Share


def card_quality(cards: Sequence[CruxCard], personas: Sequence[Persona]) -> CardQuality:
    """Return the third table, but for what needs people (:mod:`crux.measurement.blind`) or other debates."""
    rarity = Rarity([chunk.text for persona in personas for chunk in persona.corpus.chunks])
    sides = [side for card in cards for side in card.personas.values()]
    return CardQuality(
        specificity={card.id: round(value, 3) for card in cards if (value := rarity.specificity(card.question))},
        answerable=share(is_answerable(card.question) for card in cards),
        falsifiers=share(bool(side.falsifier) for side in sides),
        concrete_falsifiers=share(is_concrete(side.falsifier) for side in sides if side.falsifier),
        cited=share(bool(side.messages) for side in sides),
    )


def is_answerable(question: str) -> bool:
    """Tell whether a question has the form of a yes/no question and names something; a rule, not a judgement."""
    words = question.lower().replace("’", "'").split()
    return bool(words) and words[0] in _HEADS and len([word for word in words if len(word) > 3]) >= 3


def is_concrete(falsifier: str) -> bool:
    """Tell whether a falsifier names a condition that could be seen to hold; a rule, not a judgement."""
    if len(falsifier.split()) < _LEAST_WORDS or not _CONDITION.search(falsifier):
        return False
    without = _EMPTY.sub("", falsifier)
    return bool(_MEASURED.search(without)) and len(without.split()) >= _LEAST_WORDS


def recurrence(runs: Sequence[Sequence[CruxCard]], ties: Ties) -> Share:
    """Count how often independent debates on one topic come to the same cruxes.

    Over all ordered pairs of different runs: cards of the one that have a card in the other which asks the same, in
    the same words or as judged (:func:`crux.insight.crux_graph.ties_of`), over all cards.
    """

    def same(one: CruxCard, other: CruxCard) -> bool:
        pair = frozenset((worded(one.question), worded(other.question)))
        return len(pair) == 1 or ties.get(pair) == "same"

    return share(
        any(same(card, other) for other in second)
        for place, first in enumerate(runs)
        for against, second in enumerate(runs)
        if place != against
        for card in first
    )
