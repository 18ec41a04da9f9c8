"""What stands around every run's report, in the same words: how it ended, head facts, cost and provenance."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from assay.report.clean import one_line
from assay.report.progress import Progress
from assay.report.run import RunTotals
from assay.report.story import Block, Column, Details, Fact, Note, Plain, Section, Table
from assay.report.sums import cost_facts, sums_tables
from assay.report.units import count_noun, duration, short_count, written_time
from llm_runtime.answerer import named_words
from llm_runtime.events import RunFinished

_STATES = {"running": "is not finished", "stopped": "was stopped", "failed": "failed", "finished": "finished"}


def ending(run: RunTotals, subject: str = "The run", after: str = "", why: str = "") -> str:
    """Write how a run ended as a sentence.

    Args:
        run: its totals.
        subject: what to call it.
        after: what it had done by then, as it follows the verb: ``" after 2 loops"``.
        why: the reason, where it is not the run's message.
    """
    return f"{subject} {_STATES[run.state]}{after}{_because(why or run.message)}."


def ending_notes(run: RunTotals, sentence: str = "") -> tuple[Note, ...]:
    """Return how a run ended that was stopped or failed; nothing of one that may be going on.

    Args:
        run: its totals.
        sentence: in place of :func:`ending`.
    """
    return (Note(sentence or ending(run)),) if run.state in ("stopped", "failed") else ()


def ending_line(event: RunFinished) -> str:
    """Return the line that announces a run's end."""
    return f"run {event.state}" + (f": {one_line(event.message, 160)}" if event.message else "")


def head_facts(run: RunTotals) -> tuple[Fact, ...]:
    """Return calls, tokens, time and cost."""
    total = run.tally.total
    return (
        Fact("Calls", str(total.settled)),
        Fact("Tokens", short_count(total.both.tokens)),
        Fact("Time", duration(run.milliseconds)),
        *cost_facts(total),
    )


def cost_section(run: RunTotals, name: Callable[[str, str], str] | None = None) -> Section | None:
    """Return the sums by seat and by phase; ``None`` for a run without calls.

    Args:
        run: its totals.
        name: as in :func:`assay.report.sums.sums_tables`; the seat's or the phase's own where left out.
    """
    return Section("Cost", sums_tables(run.tally, name or _own_name)) if run.tally.phases else None


def provenance_section(run: RunTotals, rows: Mapping[str, str] | None = None, *blocks: Block) -> Section | None:
    """Return where a report comes from: the run, its origin, its models, and the troubles it had.

    Args:
        run: its totals.
        rows: further records by name, or others in place of those of the same name; empty ones are left out.
        blocks: what to set below the records.
    """
    started = run.started
    if started is None:
        return None
    records = {
        "Run": started.run_id,
        "Forked from": f"{started.parent} at event {started.forked_at}" if started.parent else "",
        "Said on the way": " / ".join(started.settings.get("remarks", ())),
        "Began": written_time(run.began),
        "Seed": str(started.seed),
        "Assay": started.version,
        "Resumed": count_noun(run.resumed, "time") if run.resumed else "",
        "Answered by": ", ".join(run.tally.answered_by()),
        **(rows or {}),
    }
    table = Table((Column("Record"), Column("")), tuple(row for row in records.items() if row[1]))
    if not run.troubles:
        return Section("Provenance", (table, *blocks))
    troubles = Details(count_noun(len(run.troubles), "trouble"), tuple(Plain(text) for text in run.troubles))
    return Section("Provenance", (table, *blocks, troubles))


def run_progress(run: RunTotals, protocol: str) -> Progress:
    """Return what a live display shows of any run.

    Args:
        run: its totals.
        protocol: its name for people.
    """
    total = run.tally.total
    return Progress(
        protocol=protocol,
        title=run.title,
        calls_done=total.settled,
        started=None if run.began is None else run.began + run.idle,
        ended=run.ended,
        tokens=total.both.tokens,
        cost=total.live.cost,
        unknown=total.unknown,
        replayed_cost=total.replayed.cost,
        unpriced=total.both.unpriced,
        replayed=total.replayed.calls,
        notes=tuple(run.troubles)[-3:],
        state=run.state,
        message=run.message,
    )


def _because(message: str) -> str:
    return f": {message.rstrip('.')}" if message else ""


def _own_name(seat: str, phase: str) -> str:
    index, colon, role = seat.partition(":")
    return index + colon + named_words(role) if seat else phase.replace("_", " ")
