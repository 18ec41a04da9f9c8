"""The figures of a study as data: one object, and with it the JSON file of a study's folder."""

from __future__ import annotations

from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from fire_circle.measurement.ablation import AblationReport
from fire_circle.measurement.calibration import Calibration
from fire_circle.measurement.hijack import HijackReport
from fire_circle.measurement.lift import LiftReport
from fire_circle.measurement.minimal_pairs import FlipReport
from fire_circle.measurement.overdefence import OverdefenceReport
from fire_circle.measurement.power import Power
from fire_circle.results import SeatCounts, Spend
from fire_circle.studies.folder import Manifest
from llm_runtime.errors import ConfigurationError, StoreDamaged
from llm_runtime.models import first_fault


class _Data(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class PassSums(_Data):
    """What one pass came to; ``calls`` are those behind finished items."""

    name: str
    items: int
    judged: int
    failed: int
    spend: Spend


class Movement(_Data):
    """The groupthink map over all items.

    Args:
        seats: names, in seat order.
        mean_by_round: each seat's mean F by round; ``None`` where it gave none.
        toward: how often the row's seat moved toward the column's.
        moves, alarms_given_up: counts; and the items in which an alarm was given up.
        alpha: Krippendorff's alpha (interval) of F by round.
        rounds: how many items had each round; alpha of later rounds rests on those that went on.
    """

    seats: tuple[str, ...]
    mean_by_round: tuple[tuple[float | None, ...], ...]
    toward: tuple[tuple[int, ...], ...]
    moves: int
    alarms_given_up: int
    items_with_alarms_given_up: tuple[str, ...]
    alpha: dict[int, float | None]
    rounds: dict[int, int]


class Judged(_Data):
    """One item to look at."""

    name: str
    falsehood: float
    text: str


class Figures(_Data):
    """All of it. What could not be measured stands in ``absent`` with the reason.

    Args:
        threshold: what pairs, over-defence and hijack are counted at, and where it comes from.
        pairs: by kind of false history; the kinds are never added up.
        calibration: which F makes the best alarm, and from where; power: to find a lift of 10 points.
    """

    # Older figures promise thresholds and costs in ways that are gone.
    model_config = ConfigDict(frozen=True, extra="ignore")

    version: int = 1
    study: Manifest
    measured: tuple[str, ...]
    complete: bool
    passes: tuple[PassSums, ...]
    violations: int
    benign: int
    counts: SeatCounts
    dropped_claims: dict[str, int]
    patterns: dict[str, int]
    stopped_early: int
    chair_influence: float | None
    threshold: float
    threshold_from: str
    lift: LiftReport | None = None
    calibration: Calibration | None = None
    ablation: AblationReport | None = None
    overdefence: OverdefenceReport | None = None
    overdefence_on: str = ""
    pairs: dict[str, FlipReport] = {}
    power: Power | None = None
    movement: Movement | None = None
    hijack: HijackReport | None = None
    missed: tuple[Judged, ...] = ()
    false_alarms: tuple[Judged, ...] = ()
    failed: tuple[str, ...] = ()
    absent: dict[str, str] = {}


def read_figures(folder: Path) -> Figures:
    """Read the figures as they were written.

    Raises:
        ConfigurationError: there are none.
        StoreDamaged: the file is something else.
    """
    place = folder / "summary.json"
    try:
        return Figures.model_validate_json(place.read_bytes())
    except OSError:
        raise ConfigurationError(f"{folder} holds no finished study: there is no summary.json") from None
    except ValidationError as fault:
        raise StoreDamaged(f"{place} is not a study's: {first_fault(fault)}") from None
