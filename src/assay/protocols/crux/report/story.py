"""A debate's report: the cards first, then the map, who moved and why, what was said, and what it cost."""

from __future__ import annotations

from dataclasses import replace
from functools import cache, partial

from assay.protocols.crux.report.cards import card_blocks, room_blocks
from assay.protocols.crux.report.insight import alignment_blocks
from assay.protocols.crux.report.pictures import graph_picture, timeline_picture
from assay.protocols.crux.report.state import DebateState
from assay.report.clean import escaped
from assay.report.frame import cost_section, head_facts, provenance_section
from assay.report.outline import Forms, Own, Scope, Writing, read_outline
from assay.report.story import Block, Fact, Plain, Quote, Story
from assay.report.units import count, count_noun, in_words, money
from crux.results import LedgerEntry, PositionShift
from llm_runtime.answerer import asked_words
from llm_runtime.grouping import grouped

_LONGEST_TITLE = 400
_outline = cache(partial(read_outline, __package__ or "", "debate.toml"))


def debate_story(state: DebateState) -> Story:
    """Return the story of a debate in whatever state it is: finished, under way, stopped, failed or broken off."""
    result, names, timeline = state.result, list(state.debate.personas), timeline_picture(state)
    accents, ledger = [state.accent(name) for name in names], result.ledger
    graph = graph_picture([result], names, accents)
    scope = {
        "title": state.debate.topic[:_LONGEST_TITLE] or "A debate without a topic",
        "subtitle": " · ".join(filter(None, ("Crux", _speakers(state)))),
        "result": result,
        "timeline": timeline,
        "shifts": [_shift(shift) for shift in result.shifts],
        "unearned": sum(not entry.earned for entry in ledger) / max(len(ledger), 1),
        "concessions": [{"entry": entry, "cause": entry.claim_ref, "moved": _moved(entry)} for entry in ledger],
        "parts": [part for part in _parts(state) if part.get("said") or part.get("turns")],
        "ways": _ways(state),
        "people": [(n, len(state.texts.get(n, ())), len(state.beliefs.get(n, ()))) for n in names],
        "config": state.config,
    }
    own: Own = {
        "cards": lambda _: card_blocks(state),
        "alignment": lambda _: alignment_blocks(result.cards, names, accents),
        "timeline": lambda _: filter(None, [timeline]),
        "graph": lambda _: filter(None, [graph]),
        "cause": lambda row: _cause(state, row["cause"]),
        "room": lambda row: room_blocks(state, row.get("turns", ())),
    }
    forms = {"accent": state.accent, "question": partial(_question, state)}
    story = _outline().story(Writing(scope, {**_FORMS, **forms}, own))
    later = cost_section(state.run, partial(_speaker, state)), provenance_section(state.run)
    return replace(story, facts=_facts(state), sections=(*story.sections, *filter(None, later)))


def _speakers(state: DebateState) -> str:
    names = in_words(list(state.debate.personas or state.result.personas))
    texts = sum(map(len, state.texts.values()))
    spoken = f"spoken by a model from {count_noun(texts, 'text')}" if texts else "spoken by a model"
    return f"{spoken}, in the places of {names}"


def _facts(state: DebateState) -> tuple[Fact, ...]:
    result = state.result
    unearned = sum(not entry.earned for entry in result.ledger)
    moved = f"{len(result.ledger) - unearned} earned" + (f", {unearned} not" if unearned else "")
    return (
        Fact("Cards", f"{len(result.cards)}, {sum(card.resolved for card in result.cards)} resolved"),
        Fact("Concessions", moved if result.ledger else "none"),
        Fact("Rounds", str(len(result.aspects))),
        *head_facts(state.run),
    )


def _shift(shift: PositionShift) -> Scope:
    """Return a stance from opening to closing; a cause is named where a reason is."""
    remarks = [f"Moved by {', '.join(shift.rooms)}."] if shift.rooms else []
    if shift.drift is not None:
        remarks.append(f"Drift of the wording {shift.drift:.2f}; it says nothing about the position.")
    cause, kept = shift.claim_ref if shift.because else "", not (shift.because or shift.shifted)
    unearned = shift.earned is False
    return {"shift": shift, "cause": cause, "kept": kept, "unearned": unearned, "remarks": " ".join(remarks)}


def _moved(entry: LedgerEntry) -> str:
    moved = f"{entry.before} to {entry.after}" if entry.before != entry.after else f"{entry.after}, refined"
    return f"{moved}, {'earned' if entry.earned else 'not earned'}"


def _parts(state: DebateState) -> list[Scope]:
    """Return the debate itself, round by round, and the rooms that came to no card."""
    result, shown = state.result, {card.crux_room_id for card in state.result.cards}
    rounds = [
        {
            "head": f"Round {number}: {aspect.label}",
            "about": aspect.description,
            "said": [m for m in result.messages if m.aspect == aspect.id],
            "minutes": result.summaries.get(aspect.id),
        }
        for number, aspect in enumerate(result.aspects, start=1)
    ]
    turns = grouped((message.room_id, message) for message in result.room_messages)
    untold = ((room.id, room.question) for room in state.debate.rooms if room.id not in shown)
    rooms = [{"head": f"{id}, without a card: {asked}", "turns": turns.get(id, [])} for id, asked in untold]
    opening, closing = (
        {"head": phase.capitalize(), "said": [m for m in result.messages if m.phase == phase]}
        for phase in ("opening", "closing")
    )
    return [opening, *rounds, *rooms, closing]


def _ways(state: DebateState) -> list[tuple[str, int, int, int | None]]:
    """Return what the same topic took without a debate, and what this one took."""
    result, spend = state.result, state.result.spend
    told = ((one, one.input_tokens + one.output_tokens) for one in result.baselines)
    ways: list[tuple[str, int, int, int | None]] = [(one.method, one.calls, both, one.cost) for one, both in told]
    if spend.calls:
        own = spend.input_tokens + spend.output_tokens - sum(tokens for _, _, tokens, _ in ways)
        cost = None if spend.cost is None else spend.cost - sum(cost or 0 for *_, cost in ways)
        ways.append(("this debate", spend.calls - sum(calls for _, calls, _, _ in ways), own, cost))
    return ways


def _cause(state: DebateState, reference: str) -> list[Block]:
    """Return the words that were named as the cause, where they are a message's."""
    result = state.result
    for message in (*result.messages, *result.room_messages):
        if message.id == reference:
            return [Quote(message.text, f"{message.persona or 'evidence'}, {message.id}")]
    return [Plain(f"Named as the cause: {reference}")] if reference else []


def _question(state: DebateState, question: str) -> str:
    if question == "topic":
        return "the topic"
    number = next((n for n, a in enumerate(state.result.aspects, start=1) if a.id == question), None)
    return f"the question of round {number}" if number else f"the question of {question}"


def _speaker(state: DebateState, seat: str, phase: str) -> str:
    if ":" not in seat:
        return f"judging {seat}" if seat else phase.replace("_", " ")
    who, _, room = seat.partition(":")[2].partition("@")
    spoken = state.ids.get(who, who)
    return f"{spoken}, {room}" if room else spoken


_FORMS: Forms = {
    "capital": str.capitalize,
    "escaped": escaped,
    "model": asked_words,
    "money": money,
    "moved": lambda one: f"{one.before} to {one.after}" if one.shifted else f"{one.after}, as at the opening",
    "number": count,
    "place": lambda said: ", ".join(part for part in (said.id, said.phase, said.stance or "") if part),
    "range": lambda rebuttals: " to ".join(str(most) for most in dict.fromkeys(rebuttals)),
    "yes": lambda made: "yes" if made else "no",
}
