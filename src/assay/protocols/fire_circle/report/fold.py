"""A circle as the live display sees it: round, seats, calls expected, and a line for each finished step."""

from __future__ import annotations

from dataclasses import replace

from assay.protocols.fire_circle.report.state import Circle, CircleState, ShownSeat, shown_seats
from assay.protocols.fire_circle.report.story import circle_story
from assay.protocols.fire_circle.task import kind_words
from assay.report.clean import one_line
from assay.report.frame import run_progress
from assay.report.generic import GenericFold
from assay.report.lines import WIDTH
from assay.report.progress import Progress, SeatProgress, SeatState
from assay.report.story import Story
from assay.report.units import in_words
from fire_circle import events
from llm_runtime.events import Event
from llm_runtime.toml import own_table

_PHASES = own_table(__package__ or "", "words.toml")["phases"]


class CircleFold(GenericFold):
    """Fire Circle's :class:`assay.report.run.RunFold`.

    Args:
        keep: how many settled calls to remember one by one; a live display needs few.
    """

    protocol = "Fire Circle"

    def _start(self) -> None:
        self.state = CircleState(self.run)

    def apply(self, event: Event, at: int) -> None:
        """Take in the next event."""
        self.state.apply(event, at)

    def story(self) -> Story:
        """Return the report."""
        return circle_story(self.state)

    def progress(self) -> Progress:
        """Return the circle as it stands."""
        state, run = self.state, self.state.run
        circle = state.latest
        held = circle.round if circle else None
        return replace(
            run_progress(run, self.protocol),
            phase=self._phase(),
            round=held.number if held else 0,
            rounds=circle.max_rounds if circle else 0,
            seats=self._seats(circle),
            calls_expected=self._expected(),
        )

    def _phase(self) -> str:
        phases = dict.fromkeys(call.label.phase for call in self.state.run.tally.running.values())
        named = [_PHASES.get(phase, phase) for phase in phases]
        latest = self.state.latest
        layer = f" (the {latest.layer} layer)" if latest and len(self.state.circles) > 1 else ""
        return ", ".join(named) + layer if named else ""

    def _seats(self, circle: Circle | None) -> tuple[SeatProgress, ...]:
        if circle is None:
            options = self.state.options
            models = list(options.models) if options.mode != "fire_circle" else []
            labels = [f"{n}:{model}" for n, model in enumerate(models, start=1)]
            return tuple(map(self._alone, shown_seats(labels, models)))
        return tuple(self._seat(seat, circle) for seat in circle.shown)

    def _alone(self, seat: ShownSeat) -> SeatProgress:
        since = self._since(seat)
        state: SeatState = "waiting" if since is None else "thinking"
        return SeatProgress(seat.short, state, since, "", seat.accent)

    def _seat(self, seat: ShownSeat, circle: Circle) -> SeatProgress:
        held = circle.round
        answers = [r.answers[seat.label] for _, r in sorted(circle.rounds.items()) if seat.label in r.answers]
        failure = next((r.failed[seat.label] for r in circle.rounds.values() if seat.label in r.failed), None)
        says = f"F {answers[-1].falsehood:.2f}  {one_line(answers[-1].reasoning, WIDTH)}" if answers else ""
        since = self._since(seat)
        state: SeatState = "waiting"
        if failure is not None:
            state, says = "failed", f"{failure.kind}: {one_line(failure.detail, WIDTH)}"
        elif since is not None:
            state = "thinking"
        elif held and (seat.label in held.answers or seat.label in held.abstained):
            state = "done"
        chair = " (chair)" if held and held.chair == seat.label else ""
        return SeatProgress(seat.short + chair, state, since, says, seat.accent)

    def _since(self, seat: ShownSeat) -> int | None:
        running = self.state.run.tally.running.values()
        return min((call.started for call in running if call.label.seat == seat.label), default=None)

    def _expected(self) -> int | None:
        """Return calls in all, if no circle settles early and nobody has to be asked twice."""
        run, options = self.state.run, self.state.options
        begun = run.tally.begun
        if run.state != "running":
            return run.tally.total.both.calls
        if options.mode != "fire_circle":
            return max(begun, len(options.models)) or None
        circle = self.state.latest
        if circle is None:
            return None
        both = 1 + ("material" in self.state.layers and len(self.state.layers) > 1)
        here = len(circle.seats) * circle.max_rounds
        return max(begun, here * (len(self.state.layers) if options.per_layer else both))


def _begins(fold: CircleFold, event: events.CircleStarted) -> str:
    names = in_words([seat.short for seat in fold.state.circles[event.layer].shown])
    limit = "" if event.round_seconds is None else f" of at most {event.round_seconds:,.0f} s"
    return f"circle on the {event.layer} layer: {names}; up to {event.max_rounds} rounds{limit}"


def _answers(fold: CircleFold, event: events.SeatEvaluated) -> str:
    held, answer = fold.state.circles[event.layer].rounds[event.round], event.evaluation
    chair = ", for the absent" if event.seat == held.chair else ""
    return f"{_seat(fold, event)}{chair}: F {answer.falsehood:.2f}: {one_line(answer.reasoning, WIDTH)}"


def _ended(fold: CircleFold, event: events.RoundEnded) -> str:
    spread = event.metrics.f_score_stddev
    return f"round {event.round} complete" + ("" if spread is None else f": spread of F {spread:.2f}")


def _verdict(fold: CircleFold, event: events.ConsensusReached) -> str:
    named = in_words([kind_words(pattern.pattern_type) for pattern in event.patterns]) or "no pattern agreed on"
    return f"verdict on the {event.layer} layer: F {event.consensus.falsehood:.2f}; {named}"


def _seat(fold: CircleFold, event: events.SeatEvent) -> str:
    return f"round {event.round}: {fold.state.circles[event.layer].seat(event.seat).short}"


CircleFold.lines = {
    events.CircleStarted: _begins,
    events.SeatEvaluated: _answers,
    events.SeatAbstained: lambda fold, e: f"{_seat(fold, e)} abstains: {one_line(e.reasoning, WIDTH)}",
    events.SeatFailed: lambda fold, e: f"{_seat(fold, e)} gave no score: {e.kind}: {e.detail}",
    events.RoundEnded: _ended,
    events.ConsensusReached: _verdict,
}
