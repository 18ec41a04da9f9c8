"""A council for its readers: the engine's own transcript, the run's totals, and the seats by name."""

from __future__ import annotations

import tomllib
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import resources

from assay.report.run import RunTotals
from crucible.events import Routed
from crucible.letters import Lettering
from crucible.material import Attachment, ids
from crucible.panel import LETTERS
from crucible.passages import ANSWER
from crucible.transcript import RED_TEAM, CouncilTranscript
from llm_runtime.structs import Struct


class NamedSeat(Struct):
    """A place in the council. ``key`` is ``"INDEX:ROLE"``, as calls and events have it."""

    key: str
    name: str
    role: str
    accent: str
    prompt: str = ""
    hint: str = ""


@dataclass(slots=True)
class CouncilState(CouncilTranscript):
    """The transcript of a run of which there are totals."""

    run: RunTotals = field(default_factory=RunTotals)
    routed: Routed | None = None

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
        if not started or not self.options.get("letters"):
            return {}
        return Lettering.of(self.labels, self.grammar, started.seed, LETTERS if self.of_records else "A").names

    @property
    def of_records(self) -> bool:
        """Whether seats and critic answer by records."""
        return self.options.get("form") == "records"

    @property
    def seats(self) -> tuple[NamedSeat, ...]:
        """The council in seat order, the red team where it sits."""
        planned = self.triage.council if self.triage else []
        keys = (f"{at}:{one.role.value}" for at, one in enumerate(planned))
        prompts = {key: (one.system_prompt, one.model_hint or "") for key, one in zip(keys, planned, strict=True)}
        shared = Counter(self.roles[key] for key in prompts)
        met: Counter[str] = Counter()
        seats: list[NamedSeat] = []
        for key, role in self.roles.items():
            met[role] += 1
            name = title(role or key) + (f" {met[role]}" if shared[role] > 1 else "")
            accent = "red" if role == RED_TEAM else f"c{len(seats) % 6}"
            seats.append(NamedSeat(key, name, role, accent, *prompts.get(key, ())))
        return tuple(seats)

    @property
    def deliberating(self) -> tuple[NamedSeat, ...]:
        """The council without its red team."""
        return tuple(seat for seat in self.seats if seat.role != RED_TEAM)

    @property
    def red_team(self) -> NamedSeat | None:
        """The red team's seat, once known."""
        return next((seat for seat in self.seats if seat.role == RED_TEAM), None)

    def texts(self) -> list[tuple[str, str]]:
        """Return who wrote what, loop by loop, critiques included."""
        red_team = self.red_team.name if self.red_team else "Red team"
        texts: list[tuple[str, str]] = []
        for loop in self.in_order():
            texts += [(self.seat(key).name, text) for (key, _), text in loop.answers.items()]
            texts += [(red_team, loop.critiques[step].text) for step in sorted(loop.critiques)]
        return texts

    def seat(self, key: str) -> NamedSeat:
        """Return the seat of that key; one of that name where the council has none."""
        return next((seat for seat in self.seats if seat.key == key), NamedSeat(key, key, "", "c0"))

    def named(self, key: str) -> str:
        """Return what a seat is called, or what else has written: the answer."""
        return "the answer" if key == ANSWER else self.seat(key).name


def title(phase: str) -> str:
    """Return what to call a role, or a phase of the council's calls."""
    words = "judge of change" if phase == "delta" else phase.replace("_", " ").strip()
    return words[:1].upper() + words[1:]


@cache
def words(table: str) -> Mapping[str, str]:
    """Return what things are called, by their names: ``"phases"`` or ``"grammars"``."""
    return tomllib.loads(resources.files(__package__ or "").joinpath("words.toml").read_text("utf-8"))[table]
