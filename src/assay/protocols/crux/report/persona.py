"""A persona as a report: who it is, what would change its mind, what it believes and where it wrote so."""

from __future__ import annotations

from assay.report.clean import escaped
from assay.report.story import Block, Column, Details, Fact, Note, Plain, Prose, Quote, Section, Story, Table
from assay.report.units import count, count_noun
from crux import Persona
from crux.claims.audit import ENOUGH, Audit
from crux.personas.beliefs import BeliefNode

#: Quotations shown under a belief; a dense one has dozens.
_PLACES = 4


def persona_story(persona: Persona) -> Story:
    """Return the persona, opened."""
    contract, corpus, graph = persona.contract, persona.corpus, persona.beliefs
    dates = [item.date for item in corpus.items if item.date]
    facts = [Fact("Texts", count(len(corpus.items))), Fact("Passages", count(len(corpus.chunks)))]
    if dates:
        facts.append(Fact("Written", f"{min(dates)} to {max(dates)}"))
    if graph is not None:
        facts.append(Fact("Beliefs", str(len(graph.nodes))))
    prose = (
        ("Personality", contract.personality),
        ("Bias", contract.bias),
        ("Stakes", contract.stakes),
        ("Epistemology", contract.epistemology),
        ("Time horizon", contract.time_horizon),
        ("Evidence", contract.evidence_policy),
    )
    flips = tuple((flip.id, flip.text) for flip in contract.flip_conditions)
    voice: list[Block] = [Plain("; ".join([*contract.voice.speech_patterns, *contract.voice.vocabulary]))]
    voice += [Quote(place.quote, f"{place.title}, {place.date}") for place in contract.voice.examples]
    sections = [
        Section("Contract", tuple(Prose(f"**{head}.** {escaped(text)}") for head, text in prose if text)),
        Section("What would change this mind", (Table((Column("Id"), Column("Condition")), flips),)),
        Section("Voice", tuple(voice)),
        Section("Anchors", tuple(Quote(p.quote, f"{p.title}, {p.date}") for p in contract.anchor_excerpts)),
    ]
    if graph is not None:
        ordered = sorted(graph.nodes, key=lambda node: (-node.confidence, node.id))
        sections.append(Section("Beliefs", tuple(_belief(persona, node) for node in ordered)))
    return Story(persona.name, f"Crux · persona {persona.id}", facts=tuple(facts), sections=tuple(sections))


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
    return Section(
        f"What reading {name} overlooked" if name else "What reading overlooked",
        (Note(audit_line(audit), tone), *missed),
    )


def _belief(persona: Persona, node: BeliefNode) -> Details:
    graph = persona.beliefs
    edges = [edge for edge in graph.edges if edge.from_ == node.id] if graph else []
    rests = [
        f"{'supports' if edge.polarity == 1 else 'undermines'} {graph.by_id[edge.to].concept}"
        for edge in edges
        if graph and edge.to in graph.by_id
    ]
    blocks: list[Block] = [Plain(". ".join([node.type.replace("_", " "), *rests]) + ".")]
    blocks += [Quote(place.quote, f"{place.title}, {place.date}") for place in node.places[:_PLACES]]
    if len(node.places) > _PLACES:
        more = node.places[_PLACES:]
        texts = len({place.item for place in more})
        blocks.append(Plain(f"And in {count_noun(len(more), 'place')} more, in {count_noun(texts, 'text')}."))
    return Details(f"{node.concept} (confidence {node.confidence:.2f})", tuple(blocks))
