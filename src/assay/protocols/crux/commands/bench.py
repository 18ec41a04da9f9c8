"""`assay debate bench`: the measures of a debate, the retrieval behind it, and how well a persona is predicted."""

from __future__ import annotations

import json
from typing import Any, cast

import click

from assay.console.running import RunCommand, run_command
from assay.protocols.crux.people import open_people, people_option
from assay.protocols.crux.task import Options, need_extra, seated
from llm_runtime.errors import ConfigurationError


@run_command(
    "crux.fidelity", "bench", trace="Show the whole report of --fidelity after the figures.", noun="figures"
)
@click.argument("run_id", metavar="RUN", required=False)
@click.option("--retrieval", is_flag=True, help="Are the texts that an essay answers found again? Asks no model.")
@people_option
def bench(command: RunCommand, run_id: str | None, retrieval: bool, people: str | None) -> int:
    """Measure the debate RUN; or, without one, the retrieval or the fidelity of personas.

    Every formula stands in docs/crux.md. What no program can judge, such as who sounds like whom, is marked as a
    stand-in. --fidelity asks models and is kept as a run; the measures of RUN are drawn with seed 0 unless --seed
    gives another.
    """
    need_extra()
    fidelity = "personas" in command.task
    if [run_id is not None, retrieval, fidelity].count(True) != 1:
        raise ConfigurationError("bench takes one of: a RUN, --retrieval, or --fidelity A,B")
    if fidelity:
        command.task["people"] = people
        return _fidelity(command)
    if command.output.out or command.output.jsonl:
        raise ConfigurationError("--out and --jsonl tell of a run, and only --fidelity makes one")
    _show(_retrieval(people) if run_id is None else _of_run(command, run_id), command.output.as_json)
    return 0


def _fidelity(command: RunCommand) -> int:
    from assay.console.showing import report_and_code, show_run

    outcome = command.go()
    if outcome.state != "finished" or command.output.jsonl:
        return command.finish(outcome)
    _show(outcome.result, command.output.as_json)
    if command.output.trace and not command.output.as_json:
        show_run(command.store, outcome.run_id, trace=True)
    return report_and_code(outcome, command.store, command.output)


def _of_run(command: RunCommand, run_id: str) -> dict[str, Any]:
    from assay.protocols.crux.report.state import state_of
    from assay.registry import opened
    from crux.measurement.report import measure

    run_id = command.store.find(run_id)
    state = state_of(command.store, run_id)
    if state.run.started is None or not state.result.messages:
        raise ConfigurationError(f"nobody spoke in run {run_id}: there is nothing to measure")
    panel = seated(cast("Options", opened(state.run.started).options))
    return measure(state.result, panel, seed=command.seed or 0).model_dump(mode="json")


def _retrieval(people: str | None) -> dict[str, Any]:
    """Measure gold replies over all texts that are known: those imported, and the shipped authors'."""
    from crux.measurement.gold_replies import gold_replies
    from crux.personas.shipped import shipped_authors, shipped_corpus

    store = open_people(people)
    shelves = [store.corpus(name).corpus for name in store.names()]
    shelves += [shipped_corpus(author).corpus for author in shipped_authors()]
    essays = list({item.id: item for shelf in shelves for item in shelf.items}.values())
    return gold_replies(essays, essays).model_dump(mode="json")


def _show(figures: dict[str, Any], as_json: bool) -> None:
    from assay.protocols.crux.report.figures import figure_lines
    from assay.report.clean import one_line

    if as_json:
        click.echo(json.dumps(figures, indent=1, ensure_ascii=False))
        return
    for name, value in figure_lines(figures):
        click.echo(f"{one_line(name, 60):<44} {one_line(value, 160)}")
