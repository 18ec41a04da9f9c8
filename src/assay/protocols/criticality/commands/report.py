"""`criticality report`: the whole of a project as a page, from its journal alone."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from assay.console.declared import declares
from llm_runtime.errors import ConfigurationError

if TYPE_CHECKING:
    from llm_runtime.events import Event


@click.command()
@declares(__package__ or "", "options.toml")("report")
def report(folder: str, out: str) -> None:
    """Write a report: the way it went, and from each claim to its contracts, tests and results."""
    from assay.registry import story_of_events
    from assay.report.places import story_text
    from criticality.project.files import require_project, write_atomic

    root, path = Path(folder).absolute(), Path(out)
    require_project(root)
    if path.suffix not in (".html", ".md"):
        raise ConfigurationError(f"a report is .html or .md; {path.name} is neither")
    write_atomic(path.absolute(), story_text(story_of_events(_journal(root)), path.suffix))
    click.echo(f"report: {path}", err=True)


def _journal(root: Path) -> Iterator[tuple[Event, int]]:
    """Yield the journal as the events of one run, as other protocols' runs are in the store."""
    from criticality import read_project
    from criticality.machine.states import Completed
    from criticality.project.files import JOURNAL
    from criticality.project.journal import read_journal
    from llm_runtime.events import RunFinished, RunStarted

    past = read_journal(root / JOURNAL)
    state, artifacts, _, _ = read_project(root)
    began = past[0][0] if past else 0
    yield RunStarted(
        run_id=artifacts.name, protocol="criticality", title=artifacts.name, task={}, settings={},
        seed=artifacts.seed,
    ), began  # fmt: skip
    yield from ((event, at) for at, event in past)
    if isinstance(state, Completed):
        trace = root / "trace.json"
        result = {"trace": json.loads(trace.read_text(encoding="utf-8"))} if trace.is_file() else {}
        yield RunFinished(state="finished", result=result), past[-1][0]
