"""`assay circle evaluate`: one prompt before a circle, with a gate for builds and machine outputs."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, cast

import click

from assay.console.declared import declares
from assay.console.options import read_text
from assay.console.running import RunCommand, run_command
from llm_runtime.errors import ConfigurationError

if TYPE_CHECKING:
    from assay.launch import Outcome
    from assay.protocols.fire_circle.commands.build import Build
    from assay.protocols.fire_circle.task import Options, Task
    from fire_circle.gates.conditions import Gate


@run_command("fire_circle.circle", "evaluate", trace="Show the whole dialogue after the verdict.", noun="verdict")
@declares(__package__ or "", "options.toml")("evaluate")
def evaluate(
    command: RunCommand, prompt_file: str | None, history: str | None, material: tuple[str, ...],
    conditions: tuple[str, ...], allow_partial: bool, sarif: str | None, junit: str | None,
    remember: str | None,
) -> int:  # fmt: skip
    """Judge the prompt in PROMPT_FILE, or the one given by layers.

    PROMPT_FILE is YAML or JSON with system, application, user, and, where they are known, turn, history and
    material, or with the messages of a whole conversation; - or a pipe is standard input. The turn matters:
    invented history can only be seen by who knows what was really said.

    \b
    assay circle evaluate prompt.yaml --fail-on 'F>=0.7' --sarif out.sarif
    assay circle evaluate --system @system.txt --user "As we agreed ..." --turn 1
    assay circle evaluate p.json --models ollama:qwen3,ollama:llama3,terminal: --rounds 3
    """
    from assay.protocols.fire_circle.commands.build import Build
    from fire_circle import TranscriptRecord
    from fire_circle.gates.conditions import COMPLETE, check_gates, gate_of, with_usual

    if remember is not None and command.options.get("mode", "fire_circle") != "fire_circle":
        raise ConfigurationError("only a circle finds patterns to remember: leave out --remember or --mode")
    gates = [gate_of(condition) for condition in conditions]
    if allow_partial and not gates:
        raise ConfigurationError("--allow-partial softens --fail-on: give a condition, or leave it out")
    build = Build(sarif, junit, category=prompt_file or "prompt")
    _add_prompt(command, prompt_file, history)
    if material:
        pages = [
            TranscriptRecord(role="document", text=read_text(None, path, "material"), source=path) for path in material
        ]
        command.task["material"] = (*command.task.get("material", ()), *pages)
    with build.reporting():
        options = cast("Options", command.prepared.options)
        gates = with_usual(gates, options.mode, options.max_rounds)
        check_gates(gates, options.mode, options.max_rounds)
        if gates:
            build.tests = [*map(str, gates), *([] if allow_partial else [COMPLETE])]
        outcome = command.go()
        if code := command.finish(outcome):
            build.write_error(str(outcome.error), code, outcome.run_id)
        else:
            code = _conclude(command, build, gates, outcome, allow_partial)
    if remember is not None and outcome.error is None:
        _remember(outcome, remember)
    return code


def _conclude(command: RunCommand, build: Build, gates: Sequence[Gate], outcome: Outcome, allow_partial: bool) -> int:
    """Try the gates and write the files; return the exit code."""
    from assay.protocols.fire_circle.report.judged import Judged, scores_line
    from assay.report.clean import one_line
    from assay.report.junit import Fault
    from fire_circle import ReciprocityMetrics
    from fire_circle.gates.conditions import Conditions
    from fire_circle.gates.verdicts import tried, verdict_of
    from fire_circle.hidden import visible

    metrics = ReciprocityMetrics.model_validate(outcome.result)
    task, options = cast("Task", command.prepared.task), cast("Options", command.prepared.options)
    scores = scores_line(metrics.falsehood, metrics.truth, metrics.indeterminacy)
    silent = [f"{failure.model} gave no score: {failure.kind}" for failure in metrics.failures]
    judged = Judged(task, scores, metrics.patterns, mode=metrics.mode, partial=metrics.partial, silent=silent)
    verdict = verdict_of("verdict", metrics, "maximum", options.seats, "", {})
    fired = tried(verdict, Conditions(tuple(gates), allow_partial), len(judged.hidden)).fired
    took = command.store.summary(outcome.run_id)
    tests = {
        name: Fault("failure", "gate", f"{name} {fired[name]}", judged.summary) if name in fired else None
        for name in build.tests
    }
    milliseconds = took.updated_at - took.started_at
    build.write([replace(judged, fired=fired)], tests, outcome.run_id, milliseconds, judged.summary)
    for gate, why in fired.items():
        click.echo(one_line(visible(f"assay: gate {gate} {why}").text), err=True)
    return 1 if fired else 0


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
