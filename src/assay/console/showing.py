"""How a run that ended is shown: its result on the screen, its report in a file, and the way to go on."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from assay.report import places
from assay.report.places import check_report
from llm_runtime.errors import (
    BudgetExceeded,
    ConfigurationError,
    DeadlineExceeded,
    LlmRuntimeError,
    ReplyTruncated,
    StructuredOutputError,
)

if TYPE_CHECKING:
    from assay.launch import Outcome
    from llm_runtime.store import RunStore


@dataclass(frozen=True, slots=True)
class OutputOptions:
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
        path = write_report(store, outcome.run_id, Path(output.out))
        click.echo(f"report: {path}", err=True)
    if outcome.error is None:
        return 0
    click.echo(f"assay: {outcome.error}", err=True)
    summary = store.summary(outcome.run_id)
    # What was refused before anybody was asked has nothing to go on with.
    refused = isinstance(outcome.error, ConfigurationError) and not summary.calls
    if summary.origin != "demo" and not refused:
        click.echo(f"assay: {_way_on(outcome)}", err=True)
    return outcome.error.exit_code if isinstance(outcome.error, LlmRuntimeError) else 1


def _way_on(outcome: Outcome) -> str:
    """Say what to do next about a run that did not finish."""
    run_id = outcome.run_id
    match outcome.error:
        case BudgetExceeded(cap=cap):
            more = "--max-calls N" if cap == "calls" else "--budget USD"
            return f"what was answered is kept; with a higher cap: assay runs resume {run_id} {more}"
        case DeadlineExceeded():
            return f"what was answered is kept; with more time: assay runs resume {run_id} --deadline SECONDS"
        case StructuredOutputError():
            return f"the answer is part of the run; to ask all of it anew: assay runs fork {run_id} --at 1"
        case ReplyTruncated():
            return f"what was answered is kept; with longer answers: assay runs resume {run_id} --max-tokens 16000"
        case _:
            return f"what was answered is kept; go on with: assay runs resume {run_id}"


def show_run(store: RunStore, run_id: str, *, trace: bool) -> None:
    """Print the result, formatted for a terminal and plain for a pipe; with ``trace`` all of the run."""
    from assay.registry import story_of
    from assay.report.terminal import print_story

    if sys.stdout.isatty():
        click.echo()
    print_story(story_of(store.records(run_id)), sys.stdout, whole=trace)


def write_report(store: RunStore, run_id: str, path: Path) -> Path:
    """Write a run's report, whole or not at all.

    Raises:
        ConfigurationError: the ending is not one of ``.html``, ``.md``, ``.json``; or the file cannot be written.
    """
    from assay.registry import story_of

    return places.write_report(path, lambda: story_of(store.records(run_id)), lambda: run_data(store, run_id))


def _print_json(outcome: Outcome, store: RunStore) -> None:
    data = run_data(store, outcome.run_id)
    if outcome.error is not None:
        data["error"] = {"kind": type(outcome.error).__name__, "message": str(outcome.error)}
    click.echo(json.dumps(data, indent=1, ensure_ascii=False))


def run_data(store: RunStore, run_id: str) -> dict[str, Any]:
    """Return a run as one JSON object: its task, its result, its sums."""
    from assay.launch import first_event, result_of

    summary = store.summary(run_id)
    events = [event for _, event in store.events(run_id)]
    return {
        "run_id": run_id,
        "protocol": summary.protocol,
        "state": summary.state,
        "task": first_event(events).task,
        "result": result_of(events),
        "calls": summary.calls,
        "tokens": {"input": summary.input_tokens, "output": summary.output_tokens},
        "cost_usd": None if summary.cost_unknown else summary.cost / 1_000_000,
        "unknown_usd": summary.unknown / 1_000_000,
    }
