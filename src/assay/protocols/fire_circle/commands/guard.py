"""`assay circle guard`: the bounds that a guard has earned in a study."""

from __future__ import annotations

from pathlib import Path

import click

from assay.console.declared import commands
from llm_runtime.errors import ConfigurationError

_command = commands(click.command, __package__ or "", "options.toml")


@_command("guard")
def guard(folder: Path, missed: float, false_alarms: float) -> int:
    """Print the bounds of the guard that the labelled study in FOLDER asked: options for evaluate and gate.

    They hold with 95% confidence on data like the study's. What lies between them the circle judges.
    """
    from fire_circle.config import GuardConfig
    from fire_circle.measurement.calibration import calibrated
    from fire_circle.study import read_study

    lines = [line for line in read_study(folder / "results.jsonl") if line.label is not None and line.result]
    said = [(line.result.guard, line.label) for line in lines if line.result and line.result.guard]
    readings = [(one.score, bool(label)) for one, label in said if one.score is not None]
    if not readings:
        raise ConfigurationError(f"{folder}: no guard scored a labelled item; study labelled data with --guard")
    fitted = calibrated(GuardConfig(model=said[0][0].model), readings, missed=missed, false_alarms=false_alarms)
    least = "" if fitted.alarm is None else f" --guard-alarm {fitted.alarm:.17g}"
    click.echo(f"--guard {fitted.model} --guard-calm {fitted.calm:g}{least}")
    settled = sum(score < fitted.calm or score >= fitted.least for score, _ in readings)
    click.echo(f"It settles {settled} of {len(readings)} items; the circle judges the rest.", err=True)
    return 0
