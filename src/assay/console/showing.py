"""How a run that ended is shown: its result on the screen, its report in a file, and the way to go on."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from assay.report import places
from assay.report.places import check_report
from llm_runtime.errors import ConfigurationError, LlmRuntimeError
from llm_runtime.structs import Struct

if TYPE_CHECKING:
    from assay.launch import Outcome
    from assay.report.story import Story
    from llm_runtime.store import RunStore


class OutputOptions(Struct):
    """What the person wants to see.

    Args:
        out: where a report goes; its ending says which kind.
        trace: the whole story after the result.
        as_json: one JSON object in place of the result.
        jsonl: every event as a line of JSON, in place of the result.
        quiet: no progress.
    """

    out: str | None = None
    trace: bool = False
    as_json: bool = False
    jsonl: bool = False
    quiet: bool = False

    def check(self) -> None:
        """Refuse a report that could not be written, before anything is spent.

        Raises:
            ConfigurationError: its ending is unknown, or its folder is not there.
        """
        if self.as_json and self.jsonl:
            raise ConfigurationError("--json and --jsonl both want standard output; choose one")
        if self.out is not None:
            check_report(self.out)


def present(outcome: Outcome, store: RunStore, output: OutputOptions) -> int:
    """Show how a run ended, and write the report that was asked for.

    Returns:
        The exit code: 0, or that of the error which ended the run.
    """
    if output.as_json:
        _print_json(outcome, store)
    elif not output.jsonl and outcome.state != "failed":
        show_run(store, outcome.run_id, trace=output.trace)
    return report_and_code(outcome, store, output)


def report_and_code(outcome: Outcome, store: RunStore, output: OutputOptions) -> int:
    """Do the rest of :func:`present` where the result has been shown in another way."""
    if output.out is not None:
        click.echo(f"report: {write_report(store, outcome.run_id, Path(output.out))}", err=True)
    if outcome.error is None:
        return 0
    click.echo(f"assay: {told(outcome.error)}", err=True)
    # What was refused before anybody was asked has nothing to go on with.
    if not isinstance(outcome.error, ConfigurationError) or store.summary(outcome.run_id).calls:
        show_ways(store, outcome.run_id)
    return outcome.error.exit_code if isinstance(outcome.error, LlmRuntimeError) else 1


def told(error: Exception) -> str:
    """Return what happened and what to do, for a command line."""
    return error.told if isinstance(error, LlmRuntimeError) else str(error)


def show_ways(store: RunStore, run_id: str) -> None:
    """Say on standard error by which commands a run goes on."""
    from assay.registry import standing_in
    from assay.report.terminal import commands

    for command in commands(standing_in(store, run_id)):
        click.echo(f"assay: what was answered is kept; go on with: {command}", err=True)


def show_run(store: RunStore, run_id: str, *, trace: bool) -> None:
    """Print the result, formatted for a terminal and plain for a pipe; with ``trace`` all of the run."""
    from assay.registry import story_of
    from assay.report.terminal import print_story

    if sys.stdout.isatty():
        click.echo()
    print_story(story_of(store.records(run_id), store.summary(run_id).state), sys.stdout, whole=trace)


def write_report(store: RunStore, run_id: str, path: Path) -> Path:
    """Write a run's report, whole or not at all.

    Raises:
        ConfigurationError: the ending is not one of ``.html``, ``.md``, ``.json``; or the file cannot be written.
    """
    from assay.registry import story_of

    def story() -> Story:
        return story_of(store.records(run_id), store.summary(run_id).state)

    return places.write_report(path, story, lambda: run_data(store, run_id))


def _print_json(outcome: Outcome, store: RunStore) -> None:
    data = run_data(store, outcome.run_id)
    if outcome.error is not None:
        data["error"] = {"kind": type(outcome.error).__name__, "message": str(outcome.error)}
    click.echo(json.dumps(data, indent=1, ensure_ascii=False))


def run_data(store: RunStore, run_id: str) -> dict[str, Any]:
    """Return a run as one JSON object: its task, its result, its sums."""
    from assay.launch import first_event, result_of
    from assay.registry import standing_in

    summary = store.summary(run_id)
    events = [event for _, event in store.events(run_id)]
    return {
        "run_id": run_id,
        "protocol": summary.protocol,
        "state": summary.state,
        "standing": standing_in(store, run_id).data(),
        "task": first_event(events).task,
        "result": result_of(events),
        "calls": summary.calls,
        "tokens": {"input": summary.input_tokens, "output": summary.output_tokens},
        "cost_usd": None if summary.cost_unknown else summary.cost / 1_000_000,
        "unknown_usd": summary.unknown / 1_000_000,
    }
