"""A trial as a run: attempts as they come in, and the whole report once its logs are read."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache, partial
from typing import Any

from assay.protocols.ai_crucible.events import AttemptEnded, AttemptTold, TrialBegan, TrialSealed
from assay.protocols.ai_crucible.report.story import sealed_story
from assay.protocols.ai_crucible.report.trial_events import attempt_of, records_of
from assay.protocols.ai_crucible.report.trial_records import Attempt, TrialRecords
from assay.report.frame import ending, ending_notes
from assay.report.generic import GenericFold
from assay.report.outline import Writing, read_outline
from assay.report.progress import Progress
from assay.report.story import Story
from assay.report.units import count_noun
from llm_runtime.events import Event, RunResumed


class TrialFold(GenericFold):
    """AI Crucible's :class:`assay.report.run.RunFold`.

    Args:
        keep: as for the other folds; a trial's calls are in Inspect's log, not in the run's.
    """

    protocol = "AI Crucible"

    def _start(self) -> None:
        self._began: TrialBegan | None = None
        self._ended: list[AttemptEnded] = []
        self._elsewhere = 0
        self._attempts: list[Attempt] = []
        self._sealed: TrialSealed | None = None

    def _take(self, event: Event, at: int) -> None:
        match event:
            case TrialBegan():
                self._began, self._attempts, self._sealed = event, [], None
                # Attempts that another run's log tells of, or none.
                self._elsewhere = max(event.done - len(self._ended), 0)
            case AttemptEnded():
                self._ended.append(event)
            case AttemptTold():
                self._attempts.append(attempt_of(event))
            case TrialSealed():
                self._sealed = event
            case RunResumed():
                self._attempts, self._sealed = [], None
            case _:
                pass

    def progress(self) -> Progress:
        """Return the trial as it stands, counted in attempts."""
        began = self._began
        return replace(
            super().progress(),
            phase="solving puzzles" if began else "preparing the sandboxes",
            call_noun="attempt",
            calls_done=self._done,
            calls_expected=began.attempts if began else None,
            tokens=sum(each.tokens for each in self._ended),
            cost=sum(each.cost for each in self._ended),
        )

    @property
    def _done(self) -> int:
        return len(self._ended) + self._elsewhere

    @property
    def counted(self) -> str:
        """How many attempts of how many are made."""
        return f"{self._done} of {self._began.attempts if self._began else '?'} attempts"

    @property
    def records(self) -> TrialRecords | None:
        """The whole of the trial; ``None`` until a sitting has ended in order."""
        if self._sealed is None or not self._attempts:
            return None
        return records_of(tuple(self._attempts), self._sealed)

    def story(self) -> Story:
        """Return the report; what there is of it while attempts are being made."""
        title, records = self.run.title, self.records
        return sealed_story(records, title, self.run_id) if records else self._under_way(title)

    def _under_way(self, title: str) -> Story:
        run = self.run
        puzzles: defaultdict[str, list[AttemptEnded]] = defaultdict(list)
        for each in self._ended:
            puzzles[each.puzzle].append(each)
        scope = {
            "title": title or "A trial",
            "run_id": self.run_id,
            "began": self._began,
            "ended": self._ended,
            "passed": sum(each.passed for each in self._ended),
            "tokens": sum(each.tokens for each in self._ended),
            "seconds": run.milliseconds / 1000,
            "puzzles": puzzles,
        }
        notes = ending_notes(run, ending(run, "The trial"))
        return _outline().story(Writing(scope, _FORMS, {"ended": lambda _: notes}))


_FORMS: Mapping[str, Callable[[Any], str]] = {
    "passes": lambda held: str(sum(each.passed for each in held)),
    "standing": lambda each: "passed" if each.passed else "failed",
}
_outline = cache(partial(read_outline, __package__ or "", "under_way.toml"))


def _begins(fold: TrialFold, event: TrialBegan) -> str:
    going_on = f"going on with {event.done} of {event.attempts} done"
    begins = f"{count_noun(event.attempts, 'attempt')} at {count_noun(event.puzzles, 'puzzle')} begin"
    return f"trial {event.trial}: {going_on if event.done else begins}"


def _ended(fold: TrialFold, event: AttemptEnded) -> str:
    whose = f", {event.model}" if event.model else ""
    return f"{event.puzzle}{whose}: {'passed' if event.passed else 'not passed'}; {fold.counted}"


TrialFold.lines = {
    TrialBegan: _begins,
    AttemptEnded: _ended,
    AttemptTold: lambda _, event: f"{attempt_of(event).name}: read from its log",
    TrialSealed: "graded, logged, and the ledger signed",
}
