"""A persona as a report: who it is, what would change its mind, what it believes and where it wrote so."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache, partial
from typing import Any

from assay.report.clean import escaped
from assay.report.outline import Scope, Writing, read_outline
from assay.report.story import Details, Note, Quote, Section, Story
from assay.report.units import count, count_noun
from crux import Persona
from crux.claims.audit import ENOUGH, Audit
from crux.personas.beliefs import BeliefGraph, BeliefNode

#: Quotations shown under a belief; a dense one has dozens.
_PLACES = 4
_FORMS: Mapping[str, Callable[[Any], str]] = {
    "escaped": escaped,
    "number": lambda held: count(len(held)),
    "spoken": lambda voice: "; ".join([*voice.speech_patterns, *voice.vocabulary]),
}
_outline = cache(partial(read_outline, __package__ or "", "persona.toml"))


def persona_story(persona: Persona) -> Story:
    """Return the persona, opened."""
    dates, graph = sorted(item.date for item in persona.corpus.items if item.date), persona.beliefs
    nodes = sorted(graph.nodes, key=lambda node: (-node.confidence, node.id)) if graph else []
    dated = (dates[0], dates[-1]) if dates else ()
    beliefs = [_belief(graph, node) for node in nodes if graph]
    scope = {"persona": persona, "contract": persona.contract, "dates": dated, "beliefs": beliefs}
    return _outline().story(Writing(scope, _FORMS))


def _belief(graph: BeliefGraph, node: BeliefNode) -> Scope:
    out = (edge for edge in graph.edges if edge.from_ == node.id and edge.to in graph.by_id)
    rests = [f"{'supports' if edge.polarity == 1 else 'undermines'} {graph.by_id[edge.to].concept}" for edge in out]
    more = node.places[_PLACES:]
    said = ". ".join([node.type.replace("_", " "), *rests, node.id])
    texts = {place.item for place in more}
    return {"node": node, "said": said, "places": node.places[:_PLACES], "more": more, "texts": texts}


def audit_line(audit: Audit) -> str:
    """Return what an audit found, as a sentence."""
    passages = count_noun(audit.passages, "passage")
    if audit.share is None:
        return f"audit: {passages} read once more, each alone; no claim in them"
    claims = count_noun(audit.claims, "claim")
    line = f"audit: {passages} read once more, each alone; the book has {audit.found} of their {claims}"
    few = f", under the {ENOUGH:.0%} that a book should have" if audit.share < ENOUGH else ""
    return f"{line} ({audit.share:.0%}{few})"


def audit_section(audit: Audit, name: str = "") -> Section:
    """Return what an audit found, with every claim that the book does not have."""
    tone = "good" if audit.share is None or audit.share >= ENOUGH else "warning"
    missed = tuple(
        Details(one.text, (Quote(one.place.quote, f"{one.place.title}, {one.place.date}"),)) for one in audit.missed
    )
    title = f"What reading {name} overlooked" if name else "What reading overlooked"
    return Section(title, (Note(audit_line(audit), tone), *missed))
