"""A turn's beliefs as text: commitment anchors, within 300 tokens."""

from __future__ import annotations

from collections.abc import Sequence

from crux.anonymity import Mask
from crux.budget import clip, fitting, flat
from crux.personas.beliefs import BeliefNode
from crux.personas.persona import Persona
from crux.results import Place
from crux.retrieval.grounding import Grounds
from crux.retrieval.index import Sentence
from llm_runtime.tokens import estimate_tokens

ANCHOR_TOKENS = 300
_WORDS_TOKENS = 130
_QUOTE_TOKENS = 45
_MOST_WORDS = 2
#: Sentences that go on for longer than this with their neighbours are shown alone.
_CONTEXT_TOKENS = 110
_MOST_DEPENDENTS = 3


def anchors(persona: Persona, grounds: Grounds, mask: Mask, tokens: int = ANCHOR_TOKENS) -> str:
    """Return the beliefs that bear on the turn, with strength, source and dependants; then own words on it.

    The belief that bears most on the claim comes first, then the one that the texts hold most densely. Where there
    is no graph, passages; where nothing bears on the question, a sentence that says so.
    """
    if grounds.outside:
        return "Nothing on record: no text of this person bears on this question."
    own = [sentence for sentence in grounds.sentences if not mask.names(sentence.place.quote)]
    if not grounds.beliefs:
        return "\n".join(_in_context(own, mask, tokens))
    words = [_wrote(sentence.place, sentence.place.quote) for sentence in own]
    words = fitting((mask.others(line) for line in words[:_MOST_WORDS]), _WORDS_TOKENS)
    shown = {sentence.place.quote for sentence in own[:_MOST_WORDS]}
    nearest = grounds.beliefs[0]
    weighty = max(grounds.beliefs, key=lambda node: node.confidence)
    lines: list[str] = []
    for belief in {node.id: node for node in (nearest, weighty, *grounds.beliefs)}.values():
        lines.append(_line(belief, persona, grounds, mask, shown))
        if belief is weighty:
            lines += _cost(belief, persona, mask)
    return "\n".join([*fitting(lines, tokens - sum(estimate_tokens(line) + 1 for line in words)), *words])


def _in_context(sentences: Sequence[Sentence], mask: Mask, tokens: int) -> list[str]:
    """Return own sentences, the nearest first, each once, with their neighbours where there is room for them.

    The neighbours tell whether a sentence is the person's view or one that the person goes on to refute.
    """
    lines: list[str] = []
    covered: list[tuple[str, int, int]] = []
    for sentence in sentences:
        place, around = sentence.place, sentence.around
        if any(item == place.item and start <= place.start < end for item, start, end in covered):
            continue
        for shown in (around, place):
            line = mask.others(_wrote(place, shown.quote))
            fits = estimate_tokens(line) <= _CONTEXT_TOKENS or shown is place
            if fits and len(fitting([*lines, line], tokens)) > len(lines):
                lines.append(line)
                covered.append((shown.item, shown.start, shown.end))
                break
    return lines


def _wrote(place: Place, words: str) -> str:
    where = ", ".join(part for part in (place.title, place.date[:4]) if part)
    return f'- wrote{f" ({where})" if where else ""}: "{flat(words)}"'


def _line(node: BeliefNode, persona: Persona, grounds: Grounds, mask: Mask, shown: set[str]) -> str:
    graph = persona.beliefs
    own = [edge for edge in grounds.edges if edge.from_ == node.id]
    others = {one.id for one in grounds.beliefs}
    edge = next((edge for edge in own if edge.to in others), own[0] if own else None)
    bearing = ""
    if edge is not None and graph is not None:
        bearing = f' {"supports" if edge.polarity == 1 else "undermines"} "{graph.by_id[edge.to].concept}"'
    held = "stated" if node.stated else "implied"
    count = len(node.documents)
    where = f"{held} in {count} text{'s' if count != 1 else ''}, {_years(node)}".rstrip(", ")
    # However many texts hold a belief, none is certain: the curve only comes near to one.
    line = f'- {node.id} "{node.concept}"{bearing} (confidence {min(node.confidence, 0.99):.2f}; {where})'
    places = grounds.places.get(node.id, node.places)
    fresh = [one for one in places if one.quote not in shown and not mask.names(one.quote)]
    place = next((one for one in fresh if estimate_tokens(one.quote) <= _QUOTE_TOKENS), fresh[0] if fresh else None)
    if place is not None:
        shown.add(place.quote)
        line += f': "{clip(flat(place.quote), _QUOTE_TOKENS)}"'
    return mask.others(line)


def _cost(node: BeliefNode, persona: Persona, mask: Mask) -> list[str]:
    """Return what giving up the strongest belief would take with it, where anything would go."""
    graph = persona.beliefs
    if graph is None or not (resting := graph.dependents(node.id)):
        return []
    named = ", ".join(f'"{graph.by_id[other].concept}"' for other in resting[:_MOST_DEPENDENTS])
    return [mask.others(f"- to concede {node.id} would mean abandoning: {named}")]


def _years(node: BeliefNode) -> str:
    years = [place.date[:4] for place in node.places if place.date]
    return " to ".join(dict.fromkeys((*years[:1], *years[-1:])))
