"""The sections of a debate's report that follow its cards."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache, partial
from typing import Any

from assay.protocols.crux.report.cards import flag_notes, room_blocks
from assay.protocols.crux.report.pictures import timeline_picture
from assay.protocols.crux.report.state import DebateState
from assay.report.clean import escaped
from assay.report.outline import Writing, read_outline
from assay.report.story import Block, Details, Note, Plain, Prose, Quote, Section, Voice
from assay.report.units import count, count_noun, money
from crux.results import DialogueMessage, LedgerEntry, PositionShift
from llm_runtime.answerer import asked_words

_FORMS: dict[str, Callable[[Any], str]] = {
    "number": count,
    "money": money,
    "capital": str.capitalize,
    "range": lambda rebuttals: " to ".join(str(most) for most in dict.fromkeys(rebuttals)),
    "model": asked_words,
    "yes": lambda made: "yes" if made else "no",
}
_outline = cache(partial(read_outline, __package__ or "", "closing.toml"))


def shifts_section(state: DebateState) -> Section | None:
    """Return the stances from opening to closing, and every stance between."""
    figure = timeline_picture(state)
    if figure is None:
        return None
    return Section("Position shifts", (figure, *[_shift(state, shift) for shift in state.result.shifts]))


def ledger_section(state: DebateState) -> Section | None:
    """Return every concession, and whether it was earned."""
    ledger = state.result.ledger
    if not state.result.stances:
        return None
    if not ledger:
        return Section("Concessions", (Note("Nobody moved, and nobody said they did."),))
    share = sum(not entry.earned for entry in ledger) / len(ledger)
    unearned = f"{share:.0%} of them unearned" if share else "none of them unearned"
    summary = (
        f"{count_noun(len(ledger), 'concession')}, {unearned}. A concession is earned by a claim that somebody "
        "else made and that the stated reason speaks of, or by a condition that was named beforehand."
    )
    return Section(
        "Concessions",
        (Note(summary, "warning" if share else "good"), *[_concession(state, entry) for entry in ledger]),
    )


def transcript_section(state: DebateState) -> Section | None:
    """Return the debate itself, folded away round by round."""
    result = state.result
    if not result.messages:
        return None
    opening = [m for m in result.messages if m.phase == "opening"]
    closing = [m for m in result.messages if m.phase == "closing"]
    blocks: list[Block] = [Details("Opening", _voices(state, opening))] if opening else []
    shown = {card.crux_room_id for card in result.cards}
    for number, aspect in enumerate(result.aspects, start=1):
        own = [m for m in result.messages if m.aspect == aspect.id]
        if not own:
            continue
        inner: list[Block] = [Plain(aspect.description), *_voices(state, own)]
        if aspect.id in result.summaries:
            inner.append(Note(f"The minutes, which later rounds were shown: {result.summaries[aspect.id]}"))
        blocks.append(Details(f"Round {number}: {aspect.label}", tuple(inner)))
    for room in state.debate.rooms:
        turns = [m for m in result.room_messages if m.room_id == room.id]
        if turns and room.id not in shown:
            blocks.append(Details(f"{room.id}, without a card: {room.question}", room_blocks(state, turns)))
    if closing:
        blocks.append(Details("Closing", _voices(state, closing)))
    return Section("What was said", tuple(blocks))


def closing_sections(state: DebateState) -> Iterator[Section]:
    """Yield the same topic without a debate, what went wrong, and who debated from what by which settings."""
    result, spend = state.result, state.result.spend
    ways: list[tuple[str, int, int, int | None]] = [
        (one.method, one.calls, one.input_tokens + one.output_tokens, one.cost) for one in result.baselines
    ]
    if spend.calls:
        own = spend.input_tokens + spend.output_tokens - sum(tokens for _, _, tokens, _ in ways)
        cost = None if spend.cost is None else spend.cost - sum(cost or 0 for *_, cost in ways)
        ways.append(("this debate", spend.calls - sum(calls for _, calls, _, _ in ways), own, cost))
    names = state.debate.personas
    people = [(name, len(state.texts.get(name, ())), len(state.beliefs.get(name, ()))) for name in names]
    scope = {"baselines": result.baselines, "ways": ways, "errors": result.errors, "people": people}
    yield from _outline().told(Writing(scope | {"config": state.config}, _FORMS))


def _voices(state: DebateState, messages: list[DialogueMessage]) -> tuple[Block, ...]:
    return tuple(
        Voice(
            message.persona,
            (Prose(escaped(message.text)), *flag_notes(message.flags)),
            state.accent(message.persona),
            ", ".join(part for part in (message.id, message.phase, message.stance or "") if part),
        )
        for message in messages
    )


def _shift(state: DebateState, shift: PositionShift) -> Voice:
    remark = f"{shift.before} to {shift.after}" if shift.shifted else f"{shift.after}, as at the opening"
    blocks: list[Block] = []
    if shift.because:
        blocks.append(Prose(escaped(shift.because)))
        blocks += _cause(state, shift.claim_ref)
    elif not shift.shifted:
        blocks.append(Prose("Opened and closed with the same answer."))
    if shift.earned is False:
        blocks.append(Note("Not earned: see the concessions.", "warning"))
    remarks: list[str] = []
    if shift.rooms:
        remarks.append(f"Moved by {', '.join(shift.rooms)}.")
    if shift.drift is not None:
        remarks.append(f"Drift of the wording {shift.drift:.2f}; it says nothing about the position.")
    if remarks:
        blocks.append(Prose(escaped(" ".join(remarks))))
    return Voice(shift.persona, tuple(blocks), state.accent(shift.persona), remark)


def _concession(state: DebateState, entry: LedgerEntry) -> Voice:
    moved = f"{entry.before} to {entry.after}" if entry.before != entry.after else f"{entry.after}, refined"
    verdict = "earned" if entry.earned else "not earned"
    blocks: list[Block] = [Prose(escaped(entry.because))] if entry.because else []
    blocks += _cause(state, entry.claim_ref)
    reason = f"{'Earned by a' if entry.earned else 'Not earned:'} {entry.reason}."
    blocks.append(Note(reason, "good" if entry.earned else "bad"))
    remark = f"{moved}, {verdict}, in {entry.message}, on {_question(state, entry.question)}"
    return Voice(entry.persona, tuple(blocks), state.accent(entry.persona), remark)


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
