"""How a run stands, as data: state, verdict, who answered, origin, error, and what can be done next.

It is made of the log and of who carries the run out now. Every surface takes its words from here.
"""

from __future__ import annotations

import re
from dataclasses import asdict
from enum import StrEnum
from typing import Literal, TypeAlias

from assay.report.clean import one_line
from llm_runtime.structs import Struct

State: TypeAlias = Literal["running", "waiting", "interrupted", "stopped", "failed", "finished"]
Leaning: TypeAlias = Literal["good", "bad", "open", "neutral"]
"""What a verdict's colour means; no state has one of these colours."""

_STATES = {
    "running": "under way",
    "waiting": "waits for a person",
    "interrupted": "broken off: its log has no end, and nobody works on it",
    "finished": "finished",
}
_LONGEST = 160
_MARKUP = re.compile(r"[*_`]{2,}|^[^\S\n]*+(#+|>|[-*]|\d+[.)])\s+", re.MULTILINE)
"""What previews leave out of Markdown."""


class Next(StrEnum):
    """What can be done next; each surface words it: a button, a command, a field."""

    ANSWER = "answer"
    RESUME = "resume"
    RAISE_BOUND = "raise_bound"
    ADD_KEY = "add_key"
    ASK_ANEW = "ask_anew"
    NEW = "new"


class WayOn(Struct):
    """One thing to do next; ``what`` is the bound to raise, by its name among the terms."""

    kind: Next
    what: str = ""


class RunVerdict(Struct):
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


class RunStanding(Struct):
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
        milliseconds: from its first event to its last, without the times in which nobody carried it out.
    """

    state: State
    verdict: RunVerdict | None = None
    by: tuple[str, ...] = ()
    origin: str = ""
    error: str = ""
    fact: str = ""
    next: tuple[WayOn, ...] = ()
    run_id: str = ""
    milliseconds: int = 0

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
