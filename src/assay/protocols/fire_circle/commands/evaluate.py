"""`assay circle evaluate`: one prompt before a circle, with a gate for builds and machine outputs."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

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
from assay.protocols.fire_circle.commands.options import circle_options, engine_from
from llm_runtime.errors import ConfigurationError

if TYPE_CHECKING:
    from assay.launch import Outcome
    from assay.protocols.fire_circle.gate import Gate
    from fire_circle import ReciprocityMetrics
    from llm_runtime.store import RunStore

_LAYERS = ("system", "application", "user")


@click.command()
@click.argument("prompt_file", required=False)
@click.option("--system", metavar="TEXT", help="The system layer; @PATH reads a file, - standard input.")
@click.option("--application", metavar="TEXT", help="The application layer; likewise.")
@click.option("--user", metavar="TEXT", help="The user layer; likewise.")
@click.option("--turn", type=click.IntRange(1, 100_000), help="Which turn of its conversation the prompt is.")
@click.option("--history", metavar="PATH", help="What was said before: a JSON or YAML list; - is standard input.")
@click.option(
    "--mode",
    type=click.Choice(["single", "parallel", "fire_circle"]),
    default="fire_circle",
    show_default=True,
    help="One model, several without dialogue, or a circle.",
)
@circle_options
@model_options
@cap_options
@click.option(
    "--fail-on",
    "conditions",
    multiple=True,
    metavar="CONDITION",
    help="Exit with 1 where this holds, e.g. 'F>=0.7' or 'patterns>=2' (repeatable).",
)
@click.option("--sarif", metavar="PATH", help="Write the patterns as SARIF 2.1.0.")
@click.option("--junit", metavar="PATH", help="Write the verdict as JUnit XML.")
@click.option("--remember", metavar="NAME", help="Keep the patterns in the pattern library under this name.")
@click.option("--trace", is_flag=True, help="Show the whole dialogue after the verdict.")
@click.option("--out", metavar="PATH", help="Write a report: .html, .md or .json by its ending.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object in place of the verdict.")
@click.option("--jsonl", is_flag=True, help="Print every event as a line of JSON, as it happens.")
@click.option("--seed", type=click.IntRange(0, 2**53 - 1), help="The run's seed; drawn where left out.")
@click.option("-q", "--quiet", is_flag=True, help="No progress on standard error.")
@store_option
def evaluate(
    prompt_file: str | None,
    system: str | None,
    application: str | None,
    user: str | None,
    turn: int | None,
    history: str | None,
    mode: str,
    model: str | None,
    seats: tuple[str, ...],
    max_tokens: int | None,
    budget: float | None,
    max_calls: int | None,
    deadline: float | None,
    conditions: tuple[str, ...],
    sarif: str | None,
    junit: str | None,
    remember: str | None,
    trace: bool,
    out: str | None,
    as_json: bool,
    jsonl: bool,
    seed: int | None,
    quiet: bool,
    store_path: str | None,
    **circle: Any,
) -> int:
    """Judge the prompt in PROMPT_FILE, or the one given by layers.

    PROMPT_FILE is YAML or JSON with system, application, user, and, where they are known, turn and history; - or a
    pipe is standard input. The turn matters: invented history can only be seen by who knows what was really said.

    \b
    assay circle evaluate prompt.yaml --fail-on 'F>=0.7' --sarif out.sarif
    assay circle evaluate --system @system.txt --user "As we agreed ..." --turn 1
    assay circle evaluate p.json --models ollama:qwen3,ollama:llama3,terminal: --rounds 3
    """
    from assay.console.session import Presentation, present, start_run
    from assay.protocols.fire_circle.gate import gate_of
    from assay.protocols.fire_circle.task import configured, subject
    from assay.report.machine import check_place

    if remember is not None and mode != "fire_circle":
        raise ConfigurationError("only a circle finds patterns to remember: leave out --remember or --mode")
    gates = [gate_of(condition) for condition in conditions]
    presentation = Presentation(out=out, trace=trace, as_json=as_json, jsonl=jsonl, quiet=quiet)
    presentation.check()
    for place in (sarif, junit):
        check_place(place)
    settings = settings_from(model, seats, max_tokens)
    engine = engine_from(mode, model=model, max_tokens=max_tokens, **circle)
    task = _task(prompt_file, {"system": system, "application": application, "user": user}, turn, history)
    prompt, _ = subject(task)
    prompt.check(configured(engine)[0].max_layer_chars)
    store = open_runs(store_path)
    try:
        outcome = start_run(
            protocol="fire_circle",
            title=" ".join(prompt.least_trusted.text[:2_000].split())[:200],
            task=task,
            engine=engine,
            settings=settings,
            caps=caps_from(budget, max_calls, deadline),
            store=store,
            seed=seed,
            presentation=presentation,
        )
        code = present(outcome, store, presentation)
        return code or _conclude(outcome, store, task, gates, sarif, junit, remember)
    finally:
        store.close()


def _task(
    prompt_file: str | None, layers: dict[str, str | None], turn: int | None, history: str | None
) -> dict[str, Any]:
    """The prompt under test as a run's task.

    Raises:
        ConfigurationError: it was given twice or not at all, or is not a prompt.
    """
    from assay.protocols.fire_circle.prompt_file import read_history, read_prompt_file

    given = {name: _layer(name, text) for name, text in layers.items() if text is not None}
    if prompt_file is None and not given and not sys.stdin.isatty():
        prompt_file = "-"
    if prompt_file is not None and given:
        raise ConfigurationError("the prompt was given twice: in a file and by layers; choose one")
    task: dict[str, Any] = dict(given) if prompt_file is None else read_prompt_file(prompt_file)
    if prompt_file not in (None, "-"):
        task["source"] = prompt_file
    if turn is not None:
        task["turn"] = turn
    if history is not None:
        task["history"] = read_history(history)
    return task


def _layer(name: str, text: str) -> str:
    if text == "-":
        return read_text(None, "-", f"{name} layer")
    return read_text(None, text[1:], f"{name} layer") if text.startswith("@") else text


def _conclude(
    outcome: Outcome,
    store: RunStore,
    task: dict[str, Any],
    gates: list[Gate],
    sarif: str | None,
    junit: str | None,
    remember: str | None,
) -> int:
    """Machine outputs and the gate of a run that has a verdict."""
    from assay.report.machine import write_junit, write_sarif
    from fire_circle import ReciprocityMetrics

    metrics = ReciprocityMetrics.model_validate(outcome.result)
    values = {
        "F": metrics.falsehood,
        "T": metrics.truth,
        "I": metrics.indeterminacy,
        "patterns": float(len(metrics.patterns)),
    }
    fired = [str(gate) for gate in gates if gate.fires(values)]
    if sarif is not None:
        write_sarif(Path(sarif), metrics, task, outcome.run_id, fired)
    if junit is not None:
        took = store.summary(outcome.run_id)
        asked = [str(gate) for gate in gates]
        write_junit(Path(junit), metrics, outcome.run_id, asked, fired, took.updated_at - took.started_at)
    if remember is not None:
        _remember(metrics, remember)
    for gate in fired:
        click.echo(f"assay: gate {gate} holds: F {metrics.falsehood:g}, {len(metrics.patterns)} patterns", err=True)
    return 1 if fired else 0


def _remember(metrics: ReciprocityMetrics, name: str) -> None:
    from assay.protocols.fire_circle.commands.patterns import library_path
    from fire_circle import ReasoningBank, store_fire_circle_patterns

    if metrics.result is None:
        return
    with ReasoningBank(library_path(None)) as bank:
        kept = store_fire_circle_patterns(metrics.result, name, bank)
    click.echo(f"kept {kept} new patterns as {name}", err=True)
