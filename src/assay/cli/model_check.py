"""How the command line shows whether a model can carry each protocol."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from assay.launch.model_check import Fitness
from assay.report.clean import one_line

if TYPE_CHECKING:
    from llm_runtime.capabilities import Capabilities, Grade

_COLOURS = {"ready": "green", "limits": "yellow", "no": "red"}
_MARKS: dict[Grade, tuple[str, str]] = {
    "ok": ("ok", "green"),
    "weak": ("--", "yellow"),
    "no": ("no", "red"),
    "unknown": ("?", "bright_black"),
}


def show(capabilities: Capabilities, judged: list[Fitness]) -> None:
    """Print what was measured, and what it means for each protocol."""
    where = f"{capabilities.model} at {capabilities.provider}" if capabilities.model else "the model"
    click.secho(one_line(where, 120), bold=True, nl=False)
    click.echo(f"  {capabilities.calls} calls, {capabilities.tokens:,} tokens")
    for finding in capabilities.findings:
        mark, colour = _MARKS[finding.grade]
        click.echo(f"  {click.style(f'{mark:<3}', fg=colour)} {finding.name:<14} {one_line(finding.detail, 200)}")
    click.echo()
    width = max(len(verdict.protocol) for verdict in judged)
    for verdict in judged:
        carries = click.style(f"{verdict.carries:<7}", fg=_COLOURS[verdict.carries])
        click.echo(f"  {verdict.protocol:<{width}}  {carries} {'; '.join(verdict.why)}".rstrip())


def as_data(capabilities: Capabilities, judged: list[Fitness]) -> dict[str, Any]:
    """Return all of it as JSON data."""
    from dataclasses import asdict

    return {**asdict(capabilities), "protocols": [asdict(verdict) for verdict in judged]}
