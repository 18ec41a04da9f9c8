"""A debate's report: the cards first, then the map, who moved and why, what was said, and what it cost."""

from __future__ import annotations

from functools import partial

from assay.protocols.crux.report.cards import cards_section
from assay.protocols.crux.report.insight import alignment_section, graph_section
from assay.protocols.crux.report.parts import (
    closing_sections,
    ledger_section,
    shifts_section,
    transcript_section,
)
from assay.protocols.crux.report.state import DebateState
from assay.report.frame import cost_section, head_facts, provenance_section
from assay.report.story import Fact, Story
from assay.report.units import count_noun, in_words

_LONGEST_TITLE = 400


def debate_story(state: DebateState) -> Story:
    """Return the story of a debate in whatever state it is: finished, under way, stopped, failed or broken off."""
    names = list(state.debate.personas)
    accents = [state.accent(name) for name in names]
    sections = [
        cards_section(state),
        alignment_section(state.result.cards, names, accents),
        shifts_section(state),
        graph_section([state.result], names, accents),
        ledger_section(state),
        transcript_section(state),
        *closing_sections(state),
        cost_section(state.run, partial(_speaker, state)),
        provenance_section(state.run),
    ]
    return Story(
        title=state.debate.topic[:_LONGEST_TITLE] or "A debate without a topic",
        subtitle=" · ".join(filter(None, ("Crux", _speakers(state)))),
        facts=_facts(state),
        sections=tuple(section for section in sections if section),
    )


def _speakers(state: DebateState) -> str:
    names = in_words(list(state.debate.personas or state.result.personas))
    texts = sum(map(len, state.texts.values()))
    spoken = f"spoken by a model from {count_noun(texts, 'text')}" if texts else "spoken by a model"
    return f"{spoken}, in the places of {names}"


def _facts(state: DebateState) -> tuple[Fact, ...]:
    result = state.result
    resolved = sum(card.resolved for card in result.cards)
    unearned = sum(not entry.earned for entry in result.ledger)
    moved = f"{len(result.ledger) - unearned} earned" + (f", {unearned} not" if unearned else "")
    return (
        Fact("Cards", f"{len(result.cards)}, {resolved} resolved"),
        Fact("Concessions", moved if result.ledger else "none"),
        Fact("Rounds", str(len(result.aspects))),
        *head_facts(state.run),
    )


def _speaker(state: DebateState, seat: str, phase: str) -> str:
    if ":" not in seat:
        return f"judging {seat}" if seat else phase.replace("_", " ")
    who, _, room = seat.partition(":")[2].partition("@")
    spoken = state.ids.get(who, who)
    return f"{spoken}, {room}" if room else spoken
