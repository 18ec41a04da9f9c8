"""How a run stands, as data: state, verdict, who answered, origin, error, and what can be done next.

It is made of the log and of who carries the run out now. Every surface takes its words from here.
"""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from typing import Literal, TypeAlias

from assay.report.clean import one_line
from assay.report.run import RunTotals
from assay.report.story import Story, Tone

State: TypeAlias = Literal["running", "waiting", "interrupted", "stopped", "failed", "finished"]
Leaning: TypeAlias = Literal["good", "bad", "open", "neutral"]
"""What a verdict's colour means; no state has one of these colours."""

_TONES: dict[Leaning, Tone] = {"good": "good", "bad": "bad", "open": "warning", "neutral": "info"}
_STATES = {
    "running": "under way",
    "waiting": "waits for a person",
    "interrupted": "broken off: its log has no end, and nobody works on it",
    "finished": "finished",
}
_ORIGINS = {
    "live": "",
    "demo": "A recording that comes with Assay: its answers were written by hand, no model gave them.",
    "replay": "A recording, replayed: no model was asked for this.",
}
_LONGEST = 160
_MARKUP = re.compile(r"[*_`]{2,}|^\s*(#+|>|[-*]|\d+[.)])\s+", re.MULTILINE)
"""What previews leave out of Markdown."""


class Next(StrEnum):
    """What can be done next; each surface words it: a button, a command, a field."""

    ANSWER = "answer"
    RESUME = "resume"
    RAISE_BOUND = "raise_bound"
    ADD_KEY = "add_key"
    ASK_ANEW = "ask_anew"
    NEW = "new"


@dataclass(frozen=True, slots=True)
class WayOn:
    """One thing to do next; ``what`` is the bound to raise, by its name among the terms."""

    kind: Next
    what: str = ""


@dataclass(frozen=True, slots=True)
class RunVerdict:
    """What a run came to, in a line that is short enough for every place.

    Args:
        outcome: what came of it.
        ground: why to trust that.
        doubt: why not to.
        leaning: what its colour says.
        gist: the beginning of what was said, for lists; no part of the line.
    """

    outcome: str
    ground: str = ""
    doubt: str = ""
    leaning: Leaning = "neutral"
    gist: str = ""

    @property
    def words(self) -> str:
        """The line."""
        return " · ".join(part for part in (self.outcome, self.ground, self.doubt) if part)


@dataclass(frozen=True, slots=True)
class RunStanding:
    """How a run stands.

    Args:
        state: ``"waiting"`` where a person has to answer.
        verdict: of a finished run, where its kind gives one.
        by: who answered so far, in words.
        origin: where its answers come from, where no model was asked; a sentence.
        error: the class of what ended it.
        fact: what ended it, without advice.
        next: what can be done.
        run_id: which run it is; empty where that is not known.
    """

    state: State
    verdict: RunVerdict | None = None
    by: tuple[str, ...] = ()
    origin: str = ""
    error: str = ""
    fact: str = ""
    next: tuple[WayOn, ...] = ()
    run_id: str = ""

    @property
    def words(self) -> str:
        """The verdict; of a run without one how it stands."""
        if self.verdict is not None:
            return self.verdict.words
        words = _STATES.get(self.state, self.state)
        return f"{words}: {one_line(self.fact, _LONGEST).rstrip('.')}" if self.fact else words

    @property
    def leaning(self) -> Leaning:
        """The verdict's; neutral where there is none."""
        return self.verdict.leaning if self.verdict else "neutral"

    @property
    def preview(self) -> str:
        """The beginning of what was said; of a run that said nothing what ended it."""
        said = self.verdict.gist or self.verdict.words if self.verdict else self.fact
        return one_line(_MARKUP.sub("", said), _LONGEST)

    def data(self) -> dict[str, object]:
        """Return the same as JSON-compatible data, with its words."""
        return {**asdict(self), "words": self.words}


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
    now = _state(run, state)
    origin = run.started.origin if run.started else "live"
    return RunStanding(
        now,
        verdict if now == "finished" else None,
        tuple(run.tally.answered_by()),
        _ORIGINS[origin],
        run.error,
        run.message,
        (WayOn(Next.NEW),) if origin == "demo" and now not in ("running", "finished") else _next(run, now),
        run.started.run_id if run.started else "",
    )


def headed(story: Story, standing: RunStanding) -> Story:
    """Return a story with how its run stands in its head."""
    name = story.subtitle or "Run"
    return replace(story, subtitle=f"{name} · {standing.words}", tone=_TONES[standing.leaning], standing=standing)


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
