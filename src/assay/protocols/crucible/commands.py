"""`assay ask`: a question to a council."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from assay.console.options import (
    cap_options,
    caps_from,
    model_options,
    open_runs,
    read_text,
    settings_from,
    store_option,
)
from llm_runtime.canonical import canonical_json
from llm_runtime.errors import ConfigurationError

#: Roles of a council, and the phases that no seat speaks in.
SEATS = (
    *("domain_expert", "pragmatist", "creative", "synthesizer", "red_team"),
    *("triage", "answer", "position", "draft", "critique", "defence", "delta", "synthesis"),
)


@click.command()
@click.argument("question", required=False)
@click.option("-f", "--file", metavar="PATH", help="Read the question from a file; - is standard input.")
@click.option("--context", metavar="PATH", help="A JSON object for triage: what it should know about the asker.")
@click.option(
    "--delta",
    type=click.Choice(["judge", "similarity"]),
    default="judge",
    show_default=True,
    help="Who decides that positions stopped changing: a model, or a comparison of texts.",
)
@model_options
@cap_options
@click.option("--trace", is_flag=True, help="Show the deliberation, loop by loop, after the answer.")
@click.option("--out", metavar="PATH", help="Write a report: .html, .md or .json by its ending.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object in place of the answer.")
@click.option("--jsonl", is_flag=True, help="Print every event as a line of JSON, as it happens.")
@click.option("--seed", type=click.IntRange(0, 2**53 - 1), help="The run's seed; drawn where left out.")
@click.option("-q", "--quiet", is_flag=True, help="No progress on standard error.")
@store_option
def ask(
    question: str | None,
    file: str | None,
    context: str | None,
    delta: str,
    model: str | None,
    seats: tuple[str, ...],
    max_tokens: int | None,
    budget: float | None,
    max_calls: int | None,
    deadline: float | None,
    trace: bool,
    out: str | None,
    as_json: bool,
    jsonl: bool,
    seed: int | None,
    quiet: bool,
    store_path: str | None,
) -> int:
    """Put QUESTION to a council of models with a red team.

    The question may also come with --file or on standard input. The answer goes to standard output, progress
    to standard error; the whole run is kept (see: assay runs).

    \b
    assay ask "Should we migrate to microservices?"
    git diff | assay ask --budget 0.50 --out review.html
    assay ask -f question.md --model ollama:qwen3 --seat red_team=terminal:
    """
    from assay.console.session import Presentation, present, start_run

    check_seats(seats)
    settings = settings_from(model, seats, max_tokens)
    query = read_text(question, file, "question")
    if not query.strip():
        raise ConfigurationError("the question is empty; say what you want to know")
    task: dict[str, Any] = {"query": query}
    if context is not None:
        task["context"] = _context(context)
    presentation = Presentation(out=out, trace=trace, as_json=as_json, jsonl=jsonl, quiet=quiet)
    store = open_runs(store_path)
    try:
        outcome = start_run(
            protocol="crucible",
            title=" ".join(query.split())[:200],
            task=task,
            engine={"delta": delta},
            settings=settings,
            caps=caps_from(budget, max_calls, deadline),
            store=store,
            seed=seed,
            presentation=presentation,
        )
        return present(outcome, store, presentation)
    finally:
        store.close()


def check_seats(seats: tuple[str, ...]) -> None:
    """Refuse a model for a seat that no council has.

    Raises:
        ConfigurationError: names those that there are.
    """
    for seat in seats:
        role = seat.partition("=")[0]
        if role not in SEATS:
            raise ConfigurationError(f"--seat: a council has no {role}; there are: {', '.join(SEATS)}")


def _context(path: str) -> dict[str, Any]:
    try:
        data = json.loads(read_text(None, path, "context"))
    except (json.JSONDecodeError, RecursionError) as fault:
        raise ConfigurationError(f"the context in {Path(path).name} is not JSON: {fault}") from None
    if not isinstance(data, dict):
        raise ConfigurationError(f"the context in {Path(path).name} must be a JSON object")
    try:
        canonical_json(data)
    except (ValueError, RecursionError) as fault:
        raise ConfigurationError(f"the context in {Path(path).name} cannot be kept as JSON: {fault}") from None
    return data  # pyright: ignore[reportUnknownVariableType]
