"""A circle as the live display sees it: round, seats, calls expected, and a line for each finished step."""

from __future__ import annotations

from dataclasses import replace

from assay.protocols.fire_circle.report.state import Circle, CircleState, ShownSeat, shown_seats
from assay.protocols.fire_circle.report.story import circle_story
from assay.report.clean import one_line
from assay.report.frame import ending_line, run_progress
from assay.report.progress import Progress, SeatProgress, SeatState
from assay.report.story import Story
from assay.report.units import in_words
from fire_circle import events
from llm_runtime.events import Event, RunFinished

_PHASES = {
    "baseline": "judging alone",
    "discussion": "discussing patterns",
    "synthesis": "bringing it together",
    "classify": "classifying patterns",
    "single": "judging alone",
}
_WIDTH = 160


class CircleFold:
    """Fire Circle's :class:`assay.report.run.RunFold`.

    Args:
        keep: how many settled calls to remember one by one; a live display needs few.
    """

    def __init__(self, keep: int | None = None) -> None:
        self.state = CircleState(keep)
        self._layer = ""

    def apply(self, event: Event, at: int) -> None:
        """Take in the next event."""
        self.state.apply(event, at)
        if isinstance(event, events.CircleStarted):
            self._layer = event.layer

    def story(self) -> Story:
        """Return the report."""
        return circle_story(self.state)

    def announce(self, event: Event) -> str | None:
        """Return the finished step in one line."""
        match event:
            case events.CircleStarted():
                names = in_words([seat.short for seat in self.state.circles[event.layer].shown])
                limit = "" if event.round_seconds is None else f" of at most {event.round_seconds:,.0f} s"
                return f"circle on the {event.layer} layer: {names}; up to {event.max_rounds} rounds{limit}"
            case events.SeatEvaluated():
                held = self.state.circles[event.layer].rounds[event.round]
                answer = held.answers[event.seat]
                chair = ", for the absent" if event.seat == held.chair else ""
                gist = one_line(answer.reasoning, _WIDTH)
                return f"round {event.round}: {self._name(event)}{chair}: F {answer.falsehood:.2f}: {gist}"
            case events.SeatAbstained():
                return f"round {event.round}: {self._name(event)} abstains: {one_line(event.reasoning, _WIDTH)}"
            case events.SeatFailed():
                return f"round {event.round}: {self._name(event)} gave no score: {event.kind}: {event.detail}"
            case events.RoundEnded():
                metrics = self.state.circles[event.layer].rounds[event.round].metrics
                spread = metrics.f_score_stddev if metrics else None
                return f"round {event.round} complete" + ("" if spread is None else f": stddev of F {spread:.2f}")
            case events.ConsensusReached():
                verdict = self.state.circles[event.layer].verdict
                named = in_words([p.pattern_type for p in verdict.patterns]) if verdict else ""
                score = verdict.consensus.falsehood if verdict else 0.0
                return f"verdict on the {event.layer} layer: F {score:.2f}; {named or 'no pattern agreed on'}"
            case RunFinished():
                return ending_line(event)
            case _:
                return None

    def progress(self) -> Progress:
        """Return the circle as it stands."""
        state, run = self.state, self.state.run
        circle = state.circles.get(self._layer)
        held = circle.round if circle else None
        return replace(
            run_progress(run, "Fire Circle"),
            phase=self._phase(),
            round=held.number if held else 0,
            rounds=circle.max_rounds if circle else 0,
            seats=self._seats(circle),
            calls_expected=self._expected(),
        )

    def _phase(self) -> str:
        phases = dict.fromkeys(call.label.phase for call in self.state.run.tally.running.values())
        named = [_PHASES.get(phase, phase) for phase in phases]
        layer = f" (the {self._layer} layer)" if len(self.state.circles) > 1 else ""
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
        says = f"F {answers[-1].falsehood:.2f}  {one_line(answers[-1].reasoning, _WIDTH)}" if answers else ""
        since = self._since(seat)
        state: SeatState = "waiting"
        if failure is not None:
            state, says = "failed", f"{failure.kind}: {one_line(failure.detail, _WIDTH)}"
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
            return begun
        if options.mode != "fire_circle":
            return max(begun, len(options.models)) or None
        circle = self.state.circles.get(self._layer)
        if circle is None:
            return None
        here = len(circle.seats) * circle.max_rounds
        return max(begun, here * (len(self.state.layers) if options.per_layer else 1))

    def _name(self, event: events.SeatEvaluated | events.SeatAbstained | events.SeatFailed) -> str:
        return self.state.circles[event.layer].seat(event.seat).short
