"""The state of a run before a circle: what each seat said in each round, layer by layer; a fold over its events."""

from __future__ import annotations

from assay.protocols.fire_circle.task import Options, Task, texts_of
from assay.registry import opened
from assay.report.run import RunTotals
from fire_circle.events import CircleEvent
from fire_circle.layers import BY_TRUST, LayerName
from fire_circle.prompt_guard import ReciprocityMetrics
from fire_circle.results import CircleRecord
from fire_circle.transcript import Round, Transcript
from llm_runtime.errors import LlmRuntimeError, StoreDamaged
from llm_runtime.events import Event, RunFinished, RunResumed, RunStarted
from llm_runtime.models import fits
from llm_runtime.structs import Struct


class ShownSeat(Struct):
    """A seat as people see it.

    Args:
        label: ``"INDEX:MODEL"``, with ``@LAYER`` where a run has a circle a layer, as calls and events have it.
        name: what results call it.
        short: the name as far as it tells the seats apart.
        accent: its colour class.
    """

    label: str
    name: str
    short: str
    accent: str


class Circle(Transcript):
    """One circle: one layer and those who judge it, as people see them."""

    @property
    def round(self) -> Round | None:
        """The one under way, or the last."""
        return self.rounds[max(self.rounds)] if self.rounds else None

    @property
    def shown(self) -> tuple[ShownSeat, ...]:
        """The seats in their order."""
        return shown_seats([seat.label for seat in self.seats], [seat.name for seat in self.seats])

    def seat(self, key: str) -> ShownSeat:
        """Return a seat by its label or its name in results."""
        seat = next((seat for seat in self.shown if key in (seat.label, seat.name)), None)
        return seat or ShownSeat(key, key, key, "quiet")

    def record(self) -> CircleRecord:
        """Return as much of a result as measurements of movement need."""
        return CircleRecord(layer=self.layer, dialogue_history=self.history())


class CircleState:
    """The fold. Events that are repeated, as a resumed run repeats them, change nothing."""

    def __init__(self, run: RunTotals) -> None:
        self.run = run
        self.task = Task()
        self.options = Options()
        self.circles: dict[str, Circle] = {}
        self.latest: Circle | None = None
        """The one that something happened in last."""
        self.result: ReciprocityMetrics | None = None

    @property
    def layers(self) -> dict[LayerName, str]:
        """The prompt under test, most trusted layer first."""
        return texts_of(self.task)

    @property
    def circle(self) -> Circle | None:
        """The circle whose verdict is the run's: of several the one with the highest F, else the latest."""
        circles = list(self.circles.values())
        judged = [circle for circle in circles if circle.verdict]
        if len(judged) < len(circles) or not judged:
            return circles[-1] if circles else None
        return max(
            judged, key=lambda c: (c.verdict.consensus.falsehood if c.verdict else -1.0, BY_TRUST.index(c.layer))
        )

    def apply(self, event: Event, at: int) -> None:
        """Take in the next event, stamped ``at`` milliseconds since the epoch.

        Raises:
            StoreDamaged: its result is not a circle's.
        """
        self.run.apply(event, at)
        match event:
            case RunStarted():
                self._open(event)
            case RunResumed():
                self.result = None
            case RunFinished() if event.result:
                with fits("the log holds a result that is none (", StoreDamaged, end=")"):
                    self.result = ReciprocityMetrics.model_validate(event.result)
            case CircleEvent():
                self.latest = self.circles.setdefault(event.layer, Circle(event.layer))
                self.latest.apply(event)
            case _:
                pass

    def _open(self, started: RunStarted) -> None:
        """Read what was asked. An imported log may hold anything there; what can be shown of it still is."""
        try:
            run = opened(started)
        except LlmRuntimeError:
            return
        if isinstance(run.task, Task) and isinstance(run.options, Options):
            self.task, self.options = run.task, run.options


def seat_names(names: list[str]) -> list[str]:
    """Return the names without vendor or address, where they still differ then."""
    bare = [name.partition("#")[2] if "://" in name else name for name in names]
    short = [part.rstrip("/").rpartition("/")[2] or name for part, name in zip(bare, names, strict=True)]
    return short if len(set(short)) == len(set(names)) else names


def shown_seats(labels: list[str], names: list[str]) -> tuple[ShownSeat, ...]:
    """Return seats as people see them, of their labels and their names in results."""
    told = zip(labels, names, seat_names(names), strict=True)
    return tuple(ShownSeat(label, name, short, f"c{n % 6}") for n, (label, name, short) in enumerate(told))
