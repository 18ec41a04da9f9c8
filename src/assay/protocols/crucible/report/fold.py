"""A council as the live display sees it: phase, seats, calls expected, and a line for each finished step."""

from __future__ import annotations

from dataclasses import replace

from assay.launch.words import FORMS, undressed
from assay.protocols.crucible.report.objections import gist
from assay.protocols.crucible.report.state import CouncilState, NamedSeat, words
from assay.protocols.crucible.report.story import council_story
from assay.report.clean import one_line
from assay.report.frame import run_progress
from assay.report.generic import GenericFold
from assay.report.lines import WIDTH
from assay.report.progress import Progress, SeatProgress, SeatState
from assay.report.story import Story
from assay.report.tally import Call
from assay.report.units import count_noun, in_words, kind_words
from crucible.config import LoopGrammar
from crucible.events import (
    Critiqued,
    LedgerWritten,
    LoopEnded,
    NotAttacked,
    Routed,
    SeatAnswered,
    SeatFailed,
    ShortCircuited,
    Shortened,
    SpareAsked,
    Synthesised,
    Triaged,
)
from crucible.ledger import headline
from crucible.transcript import Loop
from llm_runtime.events import CallFailed, CallFinished, Event
from llm_runtime.structs import Struct

_SAID = {"position": "took a position", "defence": "defended", "draft": "revised the draft"}
_DOUBT = "in doubt, so a council sits: "
_AGREE = "three short answers agree, and a check finds nothing: no council sits"


class _Heard(Struct):
    """A seat's latest settled call, and its latest words."""

    call: Call
    says: str


class CouncilFold(GenericFold):
    """Crucible's :class:`assay.report.run.RunFold`.

    Args:
        keep: how many settled calls to remember one by one; a live display needs few.
    """

    protocol = "Crucible"

    def _start(self) -> None:
        self.state = CouncilState(run=self.run)
        self._heard: dict[str, _Heard] = {}

    def _take(self, event: Event, at: int) -> None:
        self.state.apply(event)
        if isinstance(event, (CallFinished, CallFailed)):
            self._listen(event)
        if isinstance(event, Routed):
            self.state.routed = event

    def story(self) -> Story:
        """Return the report."""
        return council_story(self.state)

    def progress(self) -> Progress:
        """Return the council as it stands."""
        state, run = self.state, self.state.run
        loop = state.loop
        return replace(
            run_progress(run, self.protocol),
            phase=self._phase(),
            round=loop.number if loop else 0,
            rounds=state.limit(),
            round_noun="loop",
            seats=tuple(self._seat(seat, loop) for seat in state.seats) if not state.short_circuited else (),
            calls_expected=self._expected(),
        )

    def _phase(self) -> str:
        running = {call.label.phase: None for call in self.state.run.tally.running.values()}
        if not running:
            return "done" if self.state.answer is not None else ""
        return ", ".join(words("phases").get(phase, phase.replace("_", " ")) for phase in running)

    def _seat(self, seat: NamedSeat, loop: Loop | None) -> SeatProgress:
        running = [call for call in self.state.run.tally.running.values() if call.label.seat == seat.key]
        heard = self._heard.get(seat.key)
        state: SeatState = "waiting"
        says = heard.says if heard else ""
        if running:
            state = "thinking"
        elif heard and loop and heard.call.label.round == loop.number:
            state = "failed" if heard.call.state == "failed" else "done"
            says = kind_words(heard.call.error) or says
        if waits := [wait.why for call in running if (wait := self.state.run.waits.get(str(call.label)))]:
            says = waits[0]
        return SeatProgress(seat.name, state, min((call.started for call in running), default=None), says, seat.accent)

    def _listen(self, event: CallFinished | CallFailed) -> None:
        """Note each answer as it comes; the council reports a round when all of them are in."""
        call = self.state.run.tally.calls.get((event.digest, event.occurrence))
        if call is None or not call.label.seat:
            return
        before = self._heard.get(call.label.seat)
        text = event.reply.get("text") if isinstance(event, CallFinished) else None
        says = gist(_plain(text), WIDTH) if isinstance(text, str) else before.says if before else ""
        self._heard[call.label.seat] = _Heard(call, says)

    def _expected(self) -> int | None:
        """Estimate all calls: triage but for reviews, the loops, the answer, and who reads it afterwards."""
        state, run = self.state, self.state.run
        begun, phases = run.tally.begun, run.tally.phases
        if run.state != "running" or state.triage is None:
            return run.tally.total.both.calls if run.state != "running" else None
        if state.short_circuited:
            return max(begun, 2)
        seats, grammar, records = len(state.deliberating), state.triage.loop_grammar, state.of_records
        writing = state.answer is not None or "synthesis" in phases
        loops = len(state.loops) if writing else state.limit()
        keeps = state.options.get("ledger") == "on" and state.ledger is None
        after = 1 if records else loops * (seats if grammar is LoopGrammar.SEQUENTIAL else 1) * keeps
        if writing:
            read = phases.get("effects" if records else "clerk")
            return begun + max(after - (read.settled if read else 0), 0)
        once = seats if records and grammar is LoopGrammar.DEBATE else 0
        judged = 0 if records or not state.triage.allow_early_exit else max(loops - 2, 0)
        each = 2 if once else grammar.calls(seats)
        return max(begun, ("triage" in phases) + once + loops * each + judged + 1 + after)


def _plain(text: str) -> str:
    return undressed(text) if text.lstrip().startswith(FORMS) else text


def _outcome(event: LoopEnded) -> str:
    if not event.judged:
        return f"the comparison failed: {event.note}" if event.note else "not compared with the loop before"
    return "positions changed" if event.delta_detected else "nothing of substance changed"


def _sits(fold: CouncilFold, event: Triaged) -> str:
    state = fold.state
    names = in_words([seat.name for seat in state.seats])
    line = f"council configured: {names}; {state.grammar}, up to {count_noun(state.limit(), 'loop')}"
    precise = event.triage.reconstructed_query
    same = precise.strip() == state.question.strip() or not state.question
    return line if same else f"{line}; it works on: {one_line(precise, WIDTH)}"


def _said(fold: CouncilFold, event: SeatAnswered) -> str:
    return f"loop {event.loop}: {fold.state.seat(event.seat).name} {_SAID[event.kind]}: {gist(event.text, WIDTH)}"


def _fails(fold: CouncilFold, event: SeatFailed) -> str:
    left = "keeps its position" if fold.state.loops[event.loop].standing(event.seat) else "is left out"
    name, message = fold.state.seat(event.seat).name, one_line(event.message, WIDTH)
    return f"loop {event.loop}: {name} {left}: {message}"


def _spare(fold: CouncilFold, event: SpareAsked) -> str:
    who = fold.state.seat(event.seat).name if event.seat else event.phase
    return f"{who}: a spare is asked in place: {one_line(event.reason, WIDTH)}"


CouncilFold.lines = {
    Routed: lambda _, event: one_line(_DOUBT + "; ".join(event.doubts), WIDTH) if event.doubts else _AGREE,
    Triaged: _sits,
    ShortCircuited: "simple enough: one model answers, no council sits",
    SeatAnswered: _said,
    SeatFailed: _fails,
    SpareAsked: _spare,
    NotAttacked: lambda _, e: f"loop {e.loop}: not attacked: {one_line(e.reason, WIDTH)}",
    Shortened: "{phase}: the prompt exceeds the model's window; asked with earlier texts cut",
    Critiqued: lambda _, event: f"loop {event.loop}: red team: {gist(event.text, WIDTH)}",
    LoopEnded: lambda fold, e: f"loop {e.loop} of {fold.state.limit()} complete: {_outcome(e)}",
    Synthesised: "answer written after {loops_executed:count loop}",
    LedgerWritten: lambda fold, _: headline(fold.state.ledger) if fold.state.ledger else None,
}
