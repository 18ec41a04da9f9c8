"""`assay debate bench`: the measures of a debate."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import click

from assay.console.declared import commands
from assay.console.options import with_run
from llm_runtime.errors import ConfigurationError

if TYPE_CHECKING:
    from llm_runtime.store import RunStore

_command = commands(click.command, __package__ or "", "options.toml")


@_command("bench")
@with_run
def bench(store: RunStore, run_id: str, as_json: bool) -> int:
    """Measure the debate RUN. Every formula stands in docs/crux.md."""
    from assay.protocols.crux.report.figures import figure_lines
    from assay.protocols.crux.report.state import result_of
    from assay.report.clean import one_line
    from crux.measurement.debate_quality import debate_quality

    result = result_of(store, run_id)
    if not result.messages:
        raise ConfigurationError(f"nobody spoke in run {run_id}: there is nothing to measure")
    figures = debate_quality(result).model_dump(mode="json")
    if as_json:
        click.echo(json.dumps(figures, indent=1, ensure_ascii=False))
        return 0
    for name, value in figure_lines(figures):
        click.echo(f"{one_line(name, 60):<44} {one_line(value, 160)}")
    return 0
