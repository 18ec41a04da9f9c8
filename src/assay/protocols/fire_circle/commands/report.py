"""`assay circle report`: the report of a run or a study, written again."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import click

from assay.console.declared import commands
from assay.console.options import open_runs
from llm_runtime.errors import ConfigurationError

_command = commands(click.command, __package__ or "", "options.toml")


@_command("report")
def report(source: str, out: str | None, store_path: str | None) -> int:
    """Write the report of SOURCE again: a study's folder, or a run: its id, or "latest".

    A study's report is made from the figures in its folder; to measure anew, give the study's command again.
    """
    folder = Path(source)
    if folder.is_dir():
        from assay.protocols.fire_circle.report.study_files import write_study_report
        from fire_circle.studies.figures import read_figures

        if out is not None:
            raise ConfigurationError("a study's report goes into its own folder; leave --out out")
        write_study_report(folder, read_figures(folder))
        click.echo(f"report: {folder / 'report.html'}", err=True)
        return 0
    from assay.console.showing import write_report

    with closing(open_runs(store_path, made=False)) as store:
        run_id = store.find(source)
        click.echo(f"report: {write_report(store, run_id, Path(out or f'circle-{run_id}.html'))}", err=True)
    return 0
