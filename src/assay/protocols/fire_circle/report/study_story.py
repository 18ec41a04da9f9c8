"""The report on a study: whether the dialogue helped, first; then each measurement with its intervals.

Its sections stand in ``study.toml``; here is what their names mean and how amounts are written.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache, partial
from typing import Any

from assay.protocols.fire_circle.report import study_pictures as pictures
from assay.protocols.fire_circle.report.state import seat_names
from assay.report import units
from assay.report.outline import Forms, Own, Scope, Writing, read_outline
from assay.report.standing import Leaning, RunVerdict
from assay.report.story import Story
from assay.report.units import count_noun, money, percent
from fire_circle.measurement.lift import LiftReport
from fire_circle.results import Spend
from fire_circle.studies.events import ItemFinished
from fire_circle.studies.figures import Figures, Movement
from llm_runtime.answerer import named_words
from llm_runtime.statistics.interval import Interval
from llm_runtime.toml import own_table

_RULES = own_table(__package__ or "", "words.toml")["rules"]
_ACCENTS = {"lift": "c1", "harm": "red", "consensus": "c0"}


def _signed(value: float) -> str:
    """Return a difference of shares in points."""
    return "0" if abs(value) < 5e-4 else f"{value * 100:+.1f}".removesuffix(".0").replace("-", "−")


def _shift(value: float) -> str:
    """Return a difference of F."""
    return "0" if abs(value) < 5e-3 else f"{value:+.2f}".replace("-", "−")


def _threshold(value: float) -> str:
    """Return a threshold on F, which may lie above everything seen."""
    return f"{value:.2f}" if value <= 1 else "above every score"


def _reach(interval: Interval) -> str:
    return f"{percent(interval.low)} to {percent(interval.high)}"


def cost(spend: Spend) -> str:
    """Return what calls cost; a + where some have no known price."""
    return units.cost(spend.cost, spend.calls, spend.unpriced_calls)


FORMS: Forms = {
    "accent": lambda name: _ACCENTS.get(name, "quiet"),
    "cause": lambda row: row[1].fault.partition(":")[0] or row[2],
    "came": lambda row: "failed" if row[1].fault or row[2] else "done",
    "area": lambda at: f"{at.estimate:.3f} ({at.low:.3f} to {at.high:.3f})",
    "cost": cost,
    "harm": lambda shifted: "red" if shifted.high < 0 else "quiet",
    "money": lambda micros: money(round(micros)),
    "p": lambda value: "<0.001" if value < 0.001 else f"{value:.3f}",
    "pairs": lambda report: str(report.flipped + report.always + report.never + report.inverted),
    "percent": percent,
    "rate": lambda share: f"{percent(share.estimate)} ({_reach(share)})",
    "reach": _reach,
    "rule": _RULES.__getitem__,
    "shift": _shift,
    "shifts": lambda shifted: f"{_shift(shifted.low)} to {_shift(shifted.high)}",
    "signed": _signed,
    "spaced": lambda name: name.replace("_", " "),
    "threshold": _threshold,
}

_outline = cache(partial(read_outline, __package__ or "", "study.toml"))


def study_story(figures: Figures, judged: Sequence[tuple[str, ItemFinished]] = (), run_id: str = "") -> Story:
    """Return the story of a study, complete or not.

    Args:
        figures: of it.
        judged: its items, each with the name of its pass.
        run_id: the run that it was.
    """
    movement = figures.movement
    drawn: Own = {"means": lambda _: [pictures.means_picture(movement)]} if movement else {}
    lists = (("missed", figures.missed), ("false alarm", figures.false_alarms))
    wrong = {one.name: (why, one.text) for why, listed in lists for one in listed}
    items = [(name, item, *wrong.get(item.name, ("", ""))) for name, item in judged]
    scope = {**figures.__dict__, **_made(figures), "judged": items, "run_id": run_id}
    return _outline().story(Writing(scope, FORMS, drawn))


def _made(figures: Figures) -> Scope:
    """Return what the report tells of the figures and they do not hold themselves."""
    lift, movement, chair = figures.lift, figures.movement, figures.chair_influence
    told = chair is not None and "groupthink" in figures.measured
    head, _, rest = lift.summary.partition("; ") if lift else ("", "", "")
    return {
        "total": sum((each.spend for each in figures.passes), Spend()),
        "headline": (head, rest[:1].upper() + rest[1:]),
        "repeats": lift and _repeats(lift),
        "controlled": lift and any(method.name.startswith("control") for method in lift.methods),
        "not_calibrated": not figures.calibration,
        "pairs_failed": sum(len(report.failed) for report in figures.pairs.values()),
        "toward": list(_toward(movement)) if movement else (),
        "rounds": [(n, items, movement.alpha.get(n)) for n, items in movement.rounds.items()] if movement else (),
        "chair": chair is not None,
        "best": figures.calibration and figures.calibration.best,
        "chair_told": told,
        "chair_weak": told and (chair or 0) < 0.05,
        "settings": list(_settings(figures)),
    }


def _toward(movement: Movement) -> Iterator[tuple[str, str]]:
    """Yield each seat, and toward whom it moved how often."""
    names = seat_names(list(movement.seats))
    for name, row in zip(names, movement.toward, strict=True):
        yield name, ", ".join(f"{other} ({n})" for other, n in zip(names, row, strict=True) if n)


def _repeats(lift: LiftReport) -> bool:
    """Return whether the control is only round 1 again."""
    rates = {m.name: (m.threshold, m.detected, m.false_alarms) for m in lift.methods}
    ways = [name.removeprefix("control ") for name in rates if name.startswith("control ")]
    return bool(ways) and all(rates[f"control {way}"] == rates[f"round-1 {way}"] for way in ways)


def _settings(figures: Figures) -> Iterator[tuple[str, str]]:
    """Yield everything somebody needs to do it again."""
    study, engine = figures.study, figures.study.engine
    yield "Data", f"{study.data}, {count_noun(study.items, 'row')}"
    yield "Digest of the rows", study.digest[:16]
    yield from ((f"Seat {at}", named_words(name)) for at, name in enumerate(engine["models"], start=1))
    for role, name in study.routes.items():
        yield f"Answered in place of {role or 'every seat'}", named_words(name)
    for name, value in {**engine.get("circle", {}), **engine.get("calls", {})}.items():
        yield name.replace("_", " "), str(value)
    yield "Seed", str(study.seed)
    yield "Alarms counted from", f"F {_threshold(figures.threshold)} ({figures.threshold_from})"
    yield "Settled early", count_noun(figures.stopped_early, "item")


def outcome(result: Mapping[str, Any]) -> RunVerdict:
    """Return whether the dialogue helped, on how many items."""
    own, lift = result["passes"][0], result.get("lift")
    ground = f"{own['judged']} of {count_noun(own['items'], 'item')} judged"
    doubt = f"{own['failed']} failed" if own["failed"] else ""
    if lift is None:
        return RunVerdict("complete" if result["complete"] else "not complete", ground, doubt)
    leanings: dict[str, Leaning] = {"lift": "good", "harm": "bad"}
    return RunVerdict(lift["verdict"], ground, doubt, leanings.get(lift["verdict"], "open"))
