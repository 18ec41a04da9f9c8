"""A debate as the live display sees it: round, who is speaking, rooms as they open, cards as they land."""

from __future__ import annotations

from dataclasses import replace

from assay.protocols.crux.report.state import DebateState
from assay.protocols.crux.report.story import debate_story
from assay.report.clean import one_line
from assay.report.frame import run_progress
from assay.report.generic import GenericFold
from assay.report.lines import WIDTH, line_of
from assay.report.progress import Progress, SeatProgress, SeatState
from assay.report.story import Story
from assay.report.units import count_noun, in_words
from crux import events
from crux.estimate import estimate
from llm_runtime.events import Event
from llm_runtime.toml import own_table

_WORDS: dict[str, dict[str, str]] = own_table(__package__ or "", "words.toml")
_PHASES, _SAYS = _WORDS["phases"], _WORDS["says"]


class DebateFold(GenericFold):
    """Crux's :class:`assay.report.run.RunFold`.

    Args:
        keep: how many settled calls to remember one by one; a live display needs few.
    """

    protocol = "Crux"

    def _start(self) -> None:
        self.state = DebateState(self.run)
        self._news: list[str] = []

    def apply(self, event: Event, at: int) -> None:
        """Take in the next event."""
        self.state.apply(event, at)
        if isinstance(event, events.Posted) and isinstance(event.event, _NEWS) and (line := self.announce(event)):
            self._news = [*self._news[-2:], line]

    def story(self) -> Story:
        """Return the report."""
        return debate_story(self.state)

    def progress(self) -> Progress:
        """Return the debate as it stands."""
        state, run = self.state, self.state.run
        return replace(
            run_progress(run, self.protocol),
            title=state.debate.topic,
            phase=self._phase(),
            round=state.debate.round,
            rounds=len(state.debate.aspects),
            seats=tuple(self._seat(name) for name in state.debate.personas),
            calls_expected=self._expected(),
            notes=(*state.debate.errors[-2:], *list(run.troubles)[-2:], *run.goes_on()),
            news=tuple(self._news),
        )

    def _phase(self) -> str:
        if self.state.run.state == "running" and not self.state.run.tally.begun:
            return "laying out the texts"
        running = {call.label.phase: None for call in self.state.run.tally.running.values()}
        return ", ".join(dict.fromkeys(_PHASES.get(phase, phase.replace("_", " ")) for phase in running))

    def _seat(self, name: str) -> SeatProgress:
        state = self.state
        running = ((call.label.seat.partition(":")[2], call.started) for call in state.run.tally.running.values())
        begun = (started for seat, started in running if state.ids.get(seat.partition("@")[0]) == name)
        since = min(begun, default=None)
        own = [m for m in (*state.debate.messages, *state.debate.room_messages) if m.persona == name]
        last = max(own, key=lambda m: int(m.id[1:]) if m.id[1:].isdigit() else 0, default=None)
        stance = f"{last.stance}: " if last and last.stance else ""
        says = f"{stance}{one_line(last.text, WIDTH)}" if last else ""
        now: SeatState = "thinking" if since is not None else "done" if last else "waiting"
        return SeatProgress(name, now, since, says, state.accent(name))

    def _expected(self) -> int | None:
        """Count the calls of a debate that goes as most do; once it closes, those that were begun."""
        state, run = self.state, self.state.run
        begun = run.tally.begun
        closed = any(message.phase == "closing" for message in state.debate.messages)
        if run.state != "running" or closed or not state.config or len(state.debate.personas) < 2:
            return begun or None
        return max(begun, estimate(len(state.debate.personas), state.config).calls)


def _aspects(fold: DebateFold, begun: events.DebateStart) -> str:
    return f"{count_noun(len(begun.aspects), 'aspect')}: {in_words([aspect.label for aspect in begun.aspects])}"


def _message(fold: DebateFold, posted: events.MessagePosted) -> str:
    spoken = posted.message
    stance = f", {spoken.stance}" if spoken.stance else ""
    return f"{spoken.persona} {_SAYS[spoken.phase]}{stance}: {one_line(spoken.text, WIDTH)}"


def _turn(fold: DebateFold, posted: events.CruxMessagePosted) -> str:
    turn = posted.message
    return f"{turn.room_id}, turn {turn.turn}, {turn.persona or 'evidence'}: {one_line(turn.text, WIDTH)}"


def _card(fold: DebateFold, posted: events.CruxCardPosted) -> str:
    card = posted.card
    end = "resolved" if card.resolved else "open"
    return f"card, {card.disagreement_type}, {end}: {one_line(card.question, WIDTH)}"


def _ledger(fold: DebateFold, entered: events.ConcessionEntered) -> str:
    entry = entered.entry
    moved = f"{entry.before} to {entry.after}" if entry.before != entry.after else f"{entry.after}, updated"
    verdict = f"earned by {entry.claim_ref}" if entry.earned else f"NOT EARNED: {entry.reason}"
    return f"{entry.persona} moves, {moved}: {verdict}"


_NEWS = (events.CruxRoomSpawning, events.CruxCardPosted)
DebateFold.lines = {
    events.Posted: lambda fold, posted: line_of(fold.lines, fold, posted.event),
    events.DebateStart: _aspects,
    events.RoundStart: lambda fold, begun: (
        f"round {begun.round_number} of {len(fold.state.debate.aspects)}: {begun.aspect.label}"
    ),
    events.MessagePosted: _message,
    events.ClashStart: "clash: {personas:words}",
    events.CruxRoomSpawning: "{room_id} opens: {question:line}",
    events.CruxMessagePosted: _turn,
    events.CruxCardPosted: _card,
    events.DebateError: "{error:line}",
    events.ConcessionEntered: _ledger,
    events.BaselineAnswered: "answered without a debate, to compare",
}
