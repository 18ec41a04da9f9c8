"""A council as its events tell it: the engine's own record while it sits, and every reader's ever after."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from crucible.config import CouncilRole
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
from crucible.schemas import LoopRecord, TriageOutput
from llm_runtime.events import Event
from llm_runtime.grouping import grouped
from llm_runtime.structs import Struct

RED_TEAM = CouncilRole.RED_TEAM.value


class Critique(Struct):
    """The red team's words. ``after`` is how many seats had answered in the loop by then."""

    step: int
    text: str
    targets: tuple[str, ...]
    after: int


@dataclass(slots=True)
class Loop:
    """One loop. ``answers`` are by seat and kind, in the order they were first given; seats are named by labels."""

    number: int
    of: int
    grammar: str
    answers: dict[tuple[str, str], str] = field(default_factory=dict[tuple[str, str], str])
    critiques: dict[int, Critique] = field(default_factory=dict[int, Critique])
    failures: dict[str, SeatFailed] = field(default_factory=dict[str, SeatFailed])
    not_attacked: dict[int, str] = field(default_factory=dict[int, str])
    ended: bool = False
    delta_detected: bool = False
    judged: bool = False
    note: str = ""

    @property
    def left_out(self) -> list[SeatFailed]:
        """The failures of seats that said nothing in this loop; who merely failed to defend is not among them."""
        return [failure for seat, failure in self.failures.items() if self.standing(seat) is None]

    @property
    def positions(self) -> dict[str, str]:
        """What each seat that answered holds at the end."""
        return {seat: self.standing(seat) or "" for seat, _ in self.answers}

    @property
    def critique(self) -> str:
        """The last critique: the one of the loop's final positions."""
        return self.critiques[max(self.critiques)].text

    @property
    def attacks(self) -> list[str]:
        """The critiques in their order, and where a draft or the positions were not attacked, why."""
        texts = [(one.after, one.text) for one in self.critiques.values() if one.after or self.number > 1]
        # What is said in the first loop before anybody has answered is about an answer of before.
        texts += [(after, f"(no objection: {reason})") for after, reason in self.not_attacked.items()]
        return [text for _, text in sorted(texts, key=lambda one: one[0])]

    def standing(self, seat: str) -> str | None:
        """Return what a seat holds at the end of the loop: its defence where it gave one."""
        said = (self.answers.get((seat, kind)) for kind in ("defence", "position", "draft"))
        return next((text for text in said if text is not None), None)


@dataclass(slots=True)
class CouncilTranscript:
    """The fold over a council's events; repeated ones, as a resumed run repeats them, change nothing."""

    triage: TriageOutput | None = None
    roles: dict[str, str] = field(default_factory=dict[str, str])
    short_circuited: bool = False
    loops: dict[int, Loop] = field(default_factory=dict[int, Loop])
    answer: str | None = None
    loops_executed: int = 0
    early_exit: bool = False
    ledger: Ledger | None = None
    conclusions: dict[tuple[int, str], Concluded] = field(default_factory=dict[tuple[int, str], Concluded])
    shortened: list[Shortened] = field(default_factory=list[Shortened])

    def apply(self, event: Event) -> None:
        """Take in the next event; what is no council's changes nothing."""
        match event:
            case Triaged():
                self.triage = event.triage
                seats = enumerate(event.triage.council)
                self.roles = {f"{index}:{seat.role.value}": seat.role.value for index, seat in seats}
            case ShortCircuited():
                self.short_circuited = True
            case LoopStarted():
                self.loops.setdefault(event.loop, Loop(event.loop, event.of, event.grammar))
            case SeatAnswered() | SeatFailed() | Critiqued() | LoopEnded() | NotAttacked():
                self._in_loop(self._loop(event.loop), event)
            case Synthesised():
                self.answer = event.text
                self.loops_executed, self.early_exit = event.loops_executed, event.early_exit
            case Concluded():
                self.conclusions[event.loop, event.role] = event
            case Shortened():
                self.shortened.append(event)
            case LedgerWritten():
                self.ledger = Ledger.model_validate(event.ledger)
            case _:
                pass

    def _in_loop(self, loop: Loop, event: SeatAnswered | SeatFailed | Critiqued | LoopEnded | NotAttacked) -> None:
        match event:
            case SeatAnswered():
                self.roles.setdefault(event.seat, event.role)
                loop.answers[event.seat, event.kind] = event.text
                loop.failures.pop(event.seat, None)  # of before the run was resumed
            case SeatFailed():
                self.roles.setdefault(event.seat, event.role)
                loop.failures[event.seat] = event
            case Critiqued():
                self.roles.setdefault(event.seat, RED_TEAM)
                known = loop.critiques.get(event.step)
                after = known.after if known and known.text == event.text else len(loop.answers)
                loop.critiques[event.step] = Critique(event.step, event.text, tuple(event.targets), after)
            case NotAttacked():
                loop.not_attacked[len(loop.answers)] = event.reason
            case LoopEnded():
                loop.ended, loop.delta_detected = True, event.delta_detected
                loop.judged, loop.note = event.judged, event.note

    @property
    def labels(self) -> list[str]:
        """The labels of the council without its red team, in seat order."""
        return [seat for seat, role in self.roles.items() if role != RED_TEAM]

    @property
    def loop(self) -> Loop | None:
        """The loop under way, or the last one."""
        return self.loops[max(self.loops)] if self.loops else None

    @property
    def grammar(self) -> str:
        """``"parallel"``, ``"sequential"`` or ``"debate"``; empty before triage."""
        return self.loop.grammar if self.loop else self._chosen

    @property
    def not_attacked(self) -> str:
        """Why nobody attacked the positions of a loop; empty where somebody did in each."""
        return next((reason for loop in self.loops.values() for reason in loop.not_attacked.values()), "")

    def limit(self) -> int:
        """Return the most loops the council may take; 0 before triage."""
        return self.triage.loop_count if self.triage else self.loop.of if self.loop else 0

    def in_order(self) -> list[Loop]:
        """Return the loops, the first one first."""
        return [loop for _, loop in sorted(self.loops.items())]

    def spoken(self, loop: Loop) -> list[tuple[str, str, str]]:
        """Return a loop's seats, kinds and texts: as they followed in a sequence, else in seat order."""
        texts = [(seat, kind, text) for (seat, kind), text in loop.answers.items()]
        if loop.grammar != "sequential":
            order = {seat: place for place, seat in enumerate(self.roles)}
            texts.sort(key=lambda answer: (answer[1] == "defence", order.get(answer[0], len(order))))
        return texts

    def before(self, loop: Loop, seat: str) -> str | None:
        """Return what a seat's words follow on: its own of the loop before, or the last draft of a sequence."""
        if loop.grammar != "sequential":
            earlier = [one.standing(seat) for one in self.in_order() if one.number < loop.number]
            return next((text for text in reversed(earlier) if text is not None), None)
        previous: str | None = None
        for one in self.in_order():
            for (who, _), text in one.answers.items():
                if one.number == loop.number and who == seat:
                    return previous
                previous = text
        return previous

    def trace(self, *, kept: bool) -> list[LoopRecord]:
        """Return each loop as it ended; where positions are ``kept``, a silent seat holds what it held before."""
        held: dict[str, str] = {}
        records: list[LoopRecord] = []
        for loop in self.in_order():
            held = (held if kept else {}) | loop.positions
            record = LoopRecord(
                loop_number=loop.number,
                council_responses=by_role({seat: held[seat] for seat in self.roles if seat in held}),
                red_team_critique="\n\n".join(loop.attacks),
                delta_detected=loop.delta_detected,
            )
            records.append(record)
        return records

    def _loop(self, number: int) -> Loop:
        known = self.loops.get(number)
        return known or self.loops.setdefault(number, Loop(number, max(number, self.limit()), self._chosen))

    @property
    def _chosen(self) -> str:
        return self.triage.loop_grammar.value if self.triage else ""


def by_role(positions: Mapping[str, str]) -> dict[CouncilRole, str]:
    """Return positions keyed by role; texts of equal roles are joined in seat order."""
    texts = grouped((CouncilRole(seat.partition(":")[2]), text) for seat, text in positions.items())
    return {role: "\n\n".join(parts) for role, parts in texts.items()}
