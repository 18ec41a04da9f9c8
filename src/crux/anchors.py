"""A turn's beliefs as text: commitment anchors, within 300 tokens (sections 1.2, 2.8 and 4.2)."""

from __future__ import annotations

from crux.anonymity import Mask
from crux.budget import clip, fitting
from crux.personas import BeliefNode, Persona
from crux.retrieval import Grounds

ANCHOR_TOKENS = 300
_QUOTE_TOKENS = 40
_MOST_DEPENDENTS = 3


def anchors(persona: Persona, grounds: Grounds, mask: Mask, tokens: int = ANCHOR_TOKENS) -> str:
    """The beliefs that bear on the turn, their strength, source and what hangs on them.

    Where there is no graph, the passages; where nothing bears on the question, a sentence that says so.
    """
    if grounds.outside:
        return "Nothing on record: no text of this person bears on this question."
    if not grounds.beliefs:
        lines = [f'- wrote: "{mask.others(clip(_flat(chunk.text), 80))}"' for chunk in grounds.chunks]
        return "\n".join(fitting(lines, tokens))
    weighty = max(grounds.beliefs, key=lambda node: node.confidence)
    lines: list[str] = []
    shown: set[str] = set()
    for node in (weighty, *(node for node in grounds.beliefs if node is not weighty)):
        lines.append(_line(node, persona, grounds, mask, shown))
        if node is weighty:
            lines += _cost(node, persona, mask)
    return "\n".join(fitting(lines, tokens))


def _line(node: BeliefNode, persona: Persona, grounds: Grounds, mask: Mask, shown: set[str]) -> str:
    graph = persona.beliefs
    edge = next((edge for edge in grounds.edges if edge.from_ == node.id), None)
    bearing = ""
    if edge is not None and graph is not None:
        verb = "supports" if edge.polarity == 1 else "undermines"
        bearing = f' {verb} "{graph.by_id[edge.to].concept}"'
    held = "stated" if node.stated else "implied"
    count = len(node.documents)
    where = f"{held} in {count} text{'s' if count != 1 else ''}, {_years(node)}".rstrip(", ")
    line = f'- {node.id} "{node.concept}"{bearing} (confidence {node.confidence:.2f}; {where})'
    fresh = (one for one in reversed(node.places) if one.quote not in shown and not mask.names(one.quote))
    place = next(fresh, None)
    if place is not None:
        shown.add(place.quote)
        line += f': "{clip(_flat(place.quote), _QUOTE_TOKENS)}"'
    return mask.others(line)


def _cost(node: BeliefNode, persona: Persona, mask: Mask) -> list[str]:
    """What giving up the strongest belief would take with it, where anything would go."""
    graph = persona.beliefs
    if graph is None or not (resting := graph.dependents(node.id)):
        return []
    named = ", ".join(f'"{graph.by_id[other].concept}"' for other in resting[:_MOST_DEPENDENTS])
    return [mask.others(f"- to concede {node.id} would mean abandoning: {named}")]


def _years(node: BeliefNode) -> str:
    years = [place.date[:4] for place in node.places if place.date]
    if not years:
        return ""
    return years[0] if years[0] == years[-1] else f"{years[0]} to {years[-1]}"


def _flat(text: str) -> str:
    return " ".join(text.split())
