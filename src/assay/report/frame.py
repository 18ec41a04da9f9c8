"""What stands around every run's report, in the same words: how it ended, head facts, cost and provenance."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from assay.report.clean import one_line
from assay.report.columns import Column
from assay.report.progress import Progress
from assay.report.run import RunTotals
from assay.report.standing import Leaning, Next, RunStanding, RunVerdict, State, WayOn
from assay.report.story import Block, Details, Fact, Note, Plain, Section, Story, Table, Tone
from assay.report.sums import calls_of, cost_facts, sums_tables
from assay.report.units import count_noun, duration, short_count, written_time
from llm_runtime.answerer import named_words
from llm_runtime.events import RunFinished

_ORIGINS = {
    "live": "",
    "demo": "A recording that comes with Assay: its answers were written by hand, no model gave them.",
    "replay": "A recording, replayed: no model was asked for this.",
}
_TONES: dict[Leaning, Tone] = {"good": "good", "bad": "bad", "open": "warning", "neutral": "info"}
_STATES = {"running": "is not finished", "stopped": "was stopped", "failed": "failed", "finished": "finished"}


def ending(run: RunTotals, subject: str = "The run", after: str = "", why: str = "") -> str:
    """Write how a run ended as a sentence.

    Args:
        run: its totals.
        subject: what to call it.
        after: what it had done by then, as it follows the verb: ``" after 2 loops"``.
        why: the reason, where it is not the run's message.
    """
    because = why or run.message
    return f"{subject} {_STATES[run.state]}{after}{because and ': '}{because.rstrip('.')}."


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
    calls, tokens = Fact("Calls", calls_of(total)), Fact("Tokens", short_count(total.both.tokens))
    return calls, tokens, Fact("Time", duration(run.milliseconds)), *cost_facts(total)


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
    troubles = Details(count_noun(len(run.troubles), "trouble"), tuple(map(Plain, run.troubles)))
    return Section("Provenance", (table, *blocks, *([troubles] if run.troubles else ())), brief=True)


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
        calls_done=total.settled if run.state == "running" else total.both.calls,
        started=None if run.began is None else run.began + run.idle,
        ended=run.ended,
        tokens=total.both.tokens,
        cost=total.live.cost,
        unknown=total.unknown,
        replayed_cost=total.replayed.cost,
        unpriced=total.both.unpriced,
        replayed=total.replayed.calls,
        notes=(*list(run.troubles)[-3:], *run.goes_on()),
        state=run.state,
        message=run.message,
    )


def _own_name(seat: str, phase: str) -> str:
    index, colon, role = seat.partition(":")
    return index + colon + named_words(role) if seat else phase.replace("_", " ")


_RESUME = WayOn(Next.RESUME)
_BY_ERROR = {
    **dict.fromkeys(("BudgetExceeded", "UnknownPrice"), (WayOn(Next.RAISE_BOUND, "budget"),)),
    "DeadlineExceeded": (WayOn(Next.RAISE_BOUND, "deadline"),),
    "ReplyTruncated": (WayOn(Next.RAISE_BOUND, "max_tokens"), _RESUME),
    "StructuredOutputError": (WayOn(Next.ASK_ANEW), _RESUME),
    **dict.fromkeys(("NoModelError", "AuthenticationFailed"), (WayOn(Next.ADD_KEY), _RESUME)),
}
"""What to do about an error, by its name in the log; logs of before name no bound."""


def standing_of(run: RunTotals, state: str = "", verdict: RunVerdict | None = None) -> RunStanding:
    """Return how a run stands.

    Args:
        run: its log, folded.
        state: as the store knows it; it tells a live run from one that was broken off.
        verdict: of its result.
    """
    now, by = _state(run, state), tuple(run.tally.answered_by())
    told = verdict if now == "finished" else None
    origin, run_id = (run.started.origin, run.started.run_id) if run.started else ("live", "")
    ways = (WayOn(Next.NEW),) if (origin == "demo" and now not in ("running", "finished")) else _next(run, now)
    return RunStanding(now, told, by, _ORIGINS[origin], run.error, run.message, ways, run_id, run.milliseconds)


def headed(story: Story, standing: RunStanding) -> Story:
    """Return a story with how its run stands in its head."""
    name = story.subtitle or "Run"
    return replace(story, subtitle=f"{name} · {standing.words}", tone=_TONES[standing.leaning], standing=standing)


def judged(story: Story, verdict: RunVerdict) -> Story:
    """Return a story that no run tells, such as that of a folder, with its verdict in its head."""
    return headed(story, RunStanding("finished", verdict))


def _state(run: RunTotals, state: str) -> State:
    if run.state == "running":
        asked = {call.by.kind for call in run.tally.running.values() if call.by}
        waits = bool(asked & {"person", "mailbox"})
        return "interrupted" if state == "interrupted" else "waiting" if waits else "running"
    return "waiting" if run.error == "RunPaused" else run.state


def _next(run: RunTotals, state: State) -> tuple[WayOn, ...]:
    if state in ("running", "finished"):
        return ()
    if state == "waiting":
        return (WayOn(Next.ANSWER), _RESUME)[: 1 if run.state == "running" else 2]
    return (WayOn(Next.RAISE_BOUND, run.bound),) if run.bound else _BY_ERROR.get(run.error, (_RESUME,))
