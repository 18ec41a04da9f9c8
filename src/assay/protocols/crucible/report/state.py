"""The state of a council: who sits in it, and what was said loop by loop; a fold over its events."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from assay.report.run import RunTotals
from crucible.events import (
    Concluded,
    Critiqued,
    LedgerWritten,
    LoopEnded,
    LoopStarted,
    NotAttacked,
    SeatAnswered,
    SeatFailed,
    ShortCircuited,
    Shortened,
    Synthesised,
    Triaged,
)
from crucible.ledger import Ledger
from crucible.letters import Lettering
from crucible.material import Attachment, ids
from crucible.panel import LETTERS
from crucible.schemas import TriageOutput
from llm_runtime.events import Event

RED_TEAM = "red_team"


@dataclass(frozen=True, slots=True)
class Seat:
    """A place in the council. ``key`` is ``"INDEX:ROLE"``, as calls and events have it."""

    key: str
    name: str
    role: str
    accent: str
    prompt: str = ""
    hint: str = ""


@dataclass(frozen=True, slots=True)
class Critique:
    """The red team's words. ``after`` is how many seats had answered in the loop by then."""

    step: int
    text: str
    targets: tuple[str, ...]
    after: int


@dataclass(slots=True)
class Loop:
    """One loop. ``answers`` are by seat and kind, in the order they were first given."""

    number: int
    of: int
    grammar: str
    answers: dict[tuple[str, str], str] = field(default_factory=dict[tuple[str, str], str])
    critiques: dict[int, Critique] = field(default_factory=dict[int, Critique])
    failures: dict[str, SeatFailed] = field(default_factory=dict[str, SeatFailed])
    ended: bool = False
    delta_detected: bool = False
    judged: bool = False
    note: str = ""

    @property
    def left_out(self) -> list[SeatFailed]:
        """The failures of seats that said nothing in this loop; who merely failed to defend is not among them."""
        return [failure for seat, failure in self.failures.items() if self.standing(seat) is None]

    def standing(self, seat: str) -> str | None:
        """Return what a seat holds at the end of the loop: its defence where it gave one."""
        for kind in ("defence", "position", "draft"):
            if (seat, kind) in self.answers:
                return self.answers[seat, kind]
        return None


class CouncilState:
    """The fold. Events that are repeated, as a resumed run repeats them, change nothing."""

    def __init__(self, run: RunTotals | None = None) -> None:
        self.run = run or RunTotals()
        self.triage: TriageOutput | None = None
        self.short_circuited = False
        self.loops: dict[int, Loop] = {}
        self.answer: str | None = None
        self.loops_executed = 0
        self.early_exit = False
        self.ledger: Ledger | None = None
        self.conclusions: dict[tuple[int, str], Concluded] = {}
        self.shortened: list[Shortened] = []
        self.not_attacked: list[NotAttacked] = []
        self._seats: tuple[Seat, ...] = ()

    def apply(self, event: Event, at: int) -> None:
        """Take in the next event, stamped ``at`` milliseconds since the epoch."""
        self.run.apply(event, at)
        match event:
            case Triaged():
                self.triage = event.triage
                self._seats = _council(event.triage)
            case ShortCircuited():
                self.short_circuited = True
            case LoopStarted():
                self.loops.setdefault(event.loop, Loop(event.loop, event.of, event.grammar))
            case SeatAnswered():
                self._meet(event.seat, event.role)
                loop = self._loop(event.loop)
                loop.answers[event.seat, event.kind] = event.text
                loop.failures.pop(event.seat, None)  # of before the run was resumed
            case SeatFailed():
                self._meet(event.seat, event.role)
                self._loop(event.loop).failures[event.seat] = event
            case Critiqued():
                loop = self._loop(event.loop)
                self._meet(event.seat, RED_TEAM)
                known = loop.critiques.get(event.step)
                after = known.after if known else len(loop.answers)
                loop.critiques[event.step] = Critique(event.step, event.text, tuple(event.targets), after)
            case LoopEnded():
                loop = self._loop(event.loop)
                loop.ended, loop.delta_detected = True, event.delta_detected
                loop.judged, loop.note = event.judged, event.note
            case Synthesised():
                self.answer = event.text
                self.loops_executed, self.early_exit = event.loops_executed, event.early_exit
            case Concluded():
                self.conclusions[event.loop, event.role] = event
            case NotAttacked():
                self.not_attacked.append(event)
            case Shortened():
                self.shortened.append(event)
            case LedgerWritten():
                self.ledger = Ledger.model_validate(event.ledger)
            case _:
                pass

    @property
    def question(self) -> str:
        """What was asked, whole; empty before the run has begun."""
        asked = self.run.started.task.get("query") if self.run.started else ""
        return asked if isinstance(asked, str) else ""

    @property
    def attachments(self) -> dict[str, Attachment]:
        """What was attached, by id."""
        dossier = self.run.started.task.get("dossier", ()) if self.run.started else ()
        return ids([Attachment.model_validate(one) for one in dossier])

    @property
    def options(self) -> Mapping[str, object]:
        """How it is set, by name."""
        return self.run.started.settings.get("options", {}) if self.run.started else {}

    @property
    def letters(self) -> dict[str, str]:
        """How the red team knew the seats, by their keys; empty where it knew their roles."""
        started = self.run.started
        return self.lettering(started.seed).names if started and self.options.get("letters") else {}

    def lettering(self, seed: int) -> Lettering:
        """Return the letters of the seats."""
        first = LETTERS if self.of_records else "A"
        return Lettering.of([seat.key for seat in self.deliberating], self.grammar, seed, first)

    @property
    def of_records(self) -> bool:
        """Whether seats and critic answer by records."""
        return self.options.get("form") == "records"

    @property
    def seats(self) -> tuple[Seat, ...]:
        """The council in seat order, the red team where it sits."""
        return self._seats

    @property
    def deliberating(self) -> tuple[Seat, ...]:
        """The council without its red team."""
        return tuple(seat for seat in self._seats if seat.role != RED_TEAM)

    @property
    def red_team(self) -> Seat | None:
        """The red team's seat, once known."""
        return next((seat for seat in self._seats if seat.role == RED_TEAM), None)

    @property
    def loop(self) -> Loop | None:
        """The loop under way, or the last one."""
        return self.loops[max(self.loops)] if self.loops else None

    @property
    def grammar(self) -> str:
        """``"parallel"``, ``"sequential"`` or ``"debate"``; empty before triage."""
        return self.loop.grammar if self.loop else self._chosen

    @property
    def _chosen(self) -> str:
        return self.triage.loop_grammar.value if self.triage else ""

    def texts(self) -> list[tuple[str, str]]:
        """Return who wrote what, loop by loop, critiques included."""
        red_team = self.red_team.name if self.red_team else "Red team"
        texts: list[tuple[str, str]] = []
        for number in sorted(self.loops):
            loop = self.loops[number]
            texts += [(self.seat(key).name, text) for (key, _), text in loop.answers.items()]
            texts += [(red_team, loop.critiques[step].text) for step in sorted(loop.critiques)]
        return texts

    def seat(self, key: str) -> Seat:
        """Return the seat of that key; one of that name where the council has none."""
        return next((seat for seat in self._seats if seat.key == key), Seat(key, key, "", "c0"))

    def limit(self) -> int:
        """Return the most loops the council may take; 0 before triage."""
        return self.triage.loop_count if self.triage else self.loop.of if self.loop else 0

    def spoken(self, loop: Loop) -> list[tuple[str, str, str]]:
        """Return a loop's seats, kinds and texts: as they followed in a sequence, else in seat order."""
        texts = [(seat, kind, text) for (seat, kind), text in loop.answers.items()]
        if loop.grammar != "sequential":
            order = {seat.key: index for index, seat in enumerate(self._seats)}
            texts.sort(key=lambda answer: (answer[1] == "defence", order.get(answer[0], len(order))))
        return texts

    def before(self, loop: Loop, seat: str) -> str | None:
        """Return what a seat's words follow on: its own of the loop before, or the last draft of a sequence."""
        if loop.grammar != "sequential":
            earlier = [self.loops[number].standing(seat) for number in sorted(self.loops) if number < loop.number]
            return next((text for text in reversed(earlier) if text is not None), None)
        drafts = [
            (number, *answer) for number in sorted(self.loops) for answer in self.loops[number].answers.items()
        ]
        previous: str | None = None
        for number, (who, _), text in drafts:
            if number == loop.number and who == seat:
                return previous
            previous = text
        return previous

    def _loop(self, number: int) -> Loop:
        return self.loops.setdefault(number, Loop(number, max(number, self.limit()), self._chosen))

    def _meet(self, key: str, role: str) -> None:
        if all(seat.key != key for seat in self._seats):
            self._seats = (*self._seats, Seat(key, _title(role or key), role, _accent(len(self._seats), role)))


def phase_name(phase: str) -> str:
    """Return what to call a phase of the council's calls."""
    return "Judge of change" if phase == "delta" else _title(phase)


def _council(triage: TriageOutput) -> tuple[Seat, ...]:
    shared = Counter(seat.role for seat in triage.council)
    met: Counter[str] = Counter()
    seats: list[Seat] = []
    for index, seat in enumerate(triage.council):
        role = seat.role.value
        met[role] += 1
        name = f"{_title(role)} {met[role]}" if shared[seat.role] > 1 else _title(role)
        seats.append(
            Seat(f"{index}:{role}", name, role, _accent(index, role), seat.system_prompt, seat.model_hint or "")
        )
    return tuple(seats)


def _title(role: str) -> str:
    words = role.replace("_", " ").strip()
    return words[:1].upper() + words[1:]


def _accent(index: int, role: str) -> str:
    return "red" if role == RED_TEAM else f"c{index % 6}"
