"""`assay circle evaluate`: one prompt before a circle, with a gate for builds and machine outputs."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, cast

import click

from assay.console.running import RunCommand, run_command
from llm_runtime.errors import ConfigurationError

if TYPE_CHECKING:
    from assay.launch import Outcome
    from assay.protocols.fire_circle.task import Options


@run_command("fire_circle.circle", "evaluate", trace="Show the whole dialogue after the verdict.", noun="verdict")
@click.argument("prompt_file", required=False)
@click.option("--history", metavar="PATH", help="What was said before: a JSON or YAML list; - is standard input.")
@click.option(
    "--fail-on",
    "conditions",
    multiple=True,
    metavar="CONDITION",
    help="Exit with 1 where this holds, e.g. 'F>=0.7' or 'patterns>=2' (repeatable).",
)
@click.option(
    "--allow-partial", is_flag=True, help="Let a circle pass --fail-on where a seat failed or an alarm fell silent."
)
@click.option("--sarif", metavar="PATH", help="Write the patterns as SARIF 2.1.0.")
@click.option("--junit", metavar="PATH", help="Write the verdict as JUnit XML.")
@click.option("--remember", metavar="NAME", help="Keep the patterns in the pattern library under this name.")
def evaluate(
    command: RunCommand,
    prompt_file: str | None,
    history: str | None,
    conditions: tuple[str, ...],
    allow_partial: bool,
    sarif: str | None,
    junit: str | None,
    remember: str | None,
) -> int:
    """Judge the prompt in PROMPT_FILE, or the one given by layers.

    PROMPT_FILE is YAML or JSON with system, application, user, and, where they are known, turn and history; - or a
    pipe is standard input. The turn matters: invented history can only be seen by who knows what was really said.

    \b
    assay circle evaluate prompt.yaml --fail-on 'F>=0.7' --sarif out.sarif
    assay circle evaluate --system @system.txt --user "As we agreed ..." --turn 1
    assay circle evaluate p.json --models ollama:qwen3,ollama:llama3,terminal: --rounds 3
    """
    from assay.protocols.fire_circle.commands.build import Build
    from assay.protocols.fire_circle.gate import check_gates, gate_of
    from assay.report.places import check_place

    if remember is not None and command.options.get("mode", "fire_circle") != "fire_circle":
        raise ConfigurationError("only a circle finds patterns to remember: leave out --remember or --mode")
    gates = [gate_of(condition) for condition in conditions]
    if allow_partial and not gates:
        raise ConfigurationError("--allow-partial softens --fail-on: give a condition, or leave it out")
    for place in (sarif, junit):
        check_place(place)
    _add_prompt(command, prompt_file, history)
    build = Build(command, gates, allow_partial, Path(sarif) if sarif else None, Path(junit) if junit else None)
    with build.reporting():
        check_gates(gates, cast("Options", command.prepared.options))
        outcome = command.go()
        code = build.conclude(outcome, command.finish(outcome))
    if remember is not None and outcome.error is None:
        _remember(outcome, remember)
    return code


def _add_prompt(command: RunCommand, prompt_file: str | None, history: str | None) -> None:
    """Read what a file holds of the prompt.

    Raises:
        ConfigurationError: it was given twice or not at all, or is not a prompt.
    """
    from assay.protocols.fire_circle.prompt_file import read_history, read_prompt_file
    from assay.protocols.fire_circle.task import LAYERS

    layers = [name for name in LAYERS if command.task.get(name) is not None]
    if prompt_file is None and not layers and not sys.stdin.isatty():
        prompt_file = "-"
    if prompt_file is not None:
        if layers:
            raise ConfigurationError("the prompt was given twice: in a file and by layers; choose one")
        source = {} if prompt_file == "-" else {"source": prompt_file}
        command.task = {**read_prompt_file(prompt_file), **source, **command.task}
    if history is not None:
        command.task["history"] = read_history(history)


def _remember(outcome: Outcome, name: str) -> None:
    from assay.protocols.fire_circle.commands.patterns import library_path
    from fire_circle import ReasoningBank, ReciprocityMetrics, store_fire_circle_patterns

    metrics = ReciprocityMetrics.model_validate(outcome.result)
    if metrics.result is None:
        return
    with ReasoningBank(library_path(None)) as bank:
        new = store_fire_circle_patterns(metrics.result, name, bank)
    click.echo(f"kept {new} new patterns as {name}", err=True)
