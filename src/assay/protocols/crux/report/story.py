"""A debate's report: the cards first, then the map, who moved and why, what was said, and what it cost."""

from __future__ import annotations

from assay.protocols.crux.report.cards import cards_section
from assay.protocols.crux.report.insight import alignment_section, graph_section
from assay.protocols.crux.report.parts import (
    baselines_section,
    configuration_section,
    ledger_section,
    shifts_section,
    transcript_section,
    troubles_section,
)
from assay.protocols.crux.report.state import DebateState
from assay.report.story import Column, Details, Fact, Plain, Section, Story, Table, Tone
from assay.report.sums import cost_facts, sums_tables
from assay.report.units import count_noun, duration, in_words, short_count, written_time

_LONGEST_TITLE = 400
_ORIGINS = {
    "live": "live",
    "demo": "a recording that comes with Assay, replayed",
    "replay": "a recording, replayed",
}


def debate_story(state: DebateState) -> Story:
    """Return the story of a debate in whatever state it is: finished, under way, stopped, failed or broken off."""
    names = list(state.personas or state.result.personas)
    accents = [state.accent(name) for name in names]
    sections = [
        cards_section(state),
        alignment_section(state.result.cards, names, accents),
        shifts_section(state),
        graph_section([state.result], names, accents),
        ledger_section(state),
        transcript_section(state),
        baselines_section(state),
        troubles_section(state),
        configuration_section(state),
        _cost(state),
        _provenance(state),
    ]
    subtitle, tone = _ending(state)
    return Story(
        title=state.topic[:_LONGEST_TITLE] or "A debate without a topic",
        subtitle=subtitle,
        tone=tone,
        facts=_facts(state),
        sections=tuple(section for section in sections if section),
    )


def _facts(state: DebateState) -> tuple[Fact, ...]:
    result, total = state.result, state.run.tally.total
    resolved = sum(card.resolved for card in result.cards)
    unearned = sum(not entry.earned for entry in result.ledger)
    moved = f"{len(result.ledger) - unearned} earned" + (f", {unearned} not" if unearned else "")
    return (
        Fact("Cards", f"{len(result.cards)}, {resolved} resolved"),
        Fact("Concessions", moved if result.ledger else "none"),
        Fact("Rounds", str(len(result.aspects))),
        Fact("Calls", str(total.both.calls + total.failed)),
        Fact("Tokens", short_count(total.both.tokens)),
        Fact("Time", duration(state.run.milliseconds)),
        *cost_facts(total),
    )


def _ending(state: DebateState) -> tuple[str, Tone]:
    name = f"Crux · {in_words(list(state.personas or state.result.personas))}"
    because = f": {state.run.message.rstrip('.')}" if state.run.message else ""
    if state.run.state == "failed":
        return f"{name} · failed{because}", "bad"
    if state.run.state == "stopped":
        return f"{name} · stopped{because}", "warning"
    if state.ended is None:
        return f"{name} · not finished", "warning"
    return f"{name} · finished, {count_noun(len(state.result.cards), 'crux card')}", "good"


def _cost(state: DebateState) -> Section | None:
    def name(seat: str, phase: str) -> str:
        if ":" not in seat:
            return f"judging {seat}" if seat else phase.replace("_", " ")
        who, _, room = seat.partition(":")[2].partition("@")
        spoken = state.ids.get(who, who)
        return f"{spoken}, {room}" if room else spoken

    return Section("Cost", sums_tables(state.run.tally, name)) if state.run.tally.phases else None


def _provenance(state: DebateState) -> Section | None:
    run = state.run
    if run.started is None:
        return None
    rows = [
        ("Run", run.started.run_id),
        ("Fork of", f"{run.started.parent}, at event {run.started.forked_at}" if run.started.parent else ""),
        ("Began", written_time(run.began)),
        ("Origin", _ORIGINS[run.started.origin]),
        ("Seed", str(run.started.seed)),
        ("Assay", run.started.version),
    ]
    if run.resumed:
        rows.append(("Resumed", count_noun(run.resumed, "time")))
    models = sorted({call.used for call in run.tally.calls.values() if call.used})
    if models:
        rows.append(("Answered by", ", ".join(models)))
    table = Table((Column("Record"), Column("")), tuple(row for row in rows if row[1]))
    if not run.troubles:
        return Section("Provenance", (table,))
    troubles = Details(count_noun(len(run.troubles), "trouble"), tuple(Plain(text) for text in run.troubles))
    return Section("Provenance", (table, troubles))
