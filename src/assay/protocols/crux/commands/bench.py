"""`assay debate bench`: the measures of a debate, the retrieval behind it, and how well a persona is predicted."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click

from assay.console.running import RunCommand, run_command
from assay.protocols.crux.people import open_people, people_option
from assay.protocols.crux.task import Options, need_extra, seated
from llm_runtime.errors import ConfigurationError

if TYPE_CHECKING:
    from crux.personas.persona import Persona
    from crux.results import DebateResult


@run_command(
    "crux.fidelity", "bench", trace="Show the whole report of --fidelity after the figures.", noun="figures"
)
@click.argument("run_id", metavar="RUN", required=False)
@click.option("--retrieval", is_flag=True, help="Are the texts that an essay answers found again? Asks no model.")
@click.option("--blind", metavar="FILE", help="Write a sheet (.csv) of RUN, names masked, for people to fill in.")
@click.option("--answers", metavar="FILE", help="Score a sheet of RUN that people filled in.")
@people_option
def bench(
    command: RunCommand,
    run_id: str | None,
    retrieval: bool,
    blind: str | None,
    answers: str | None,
    people: str | None,
) -> int:
    """Measure the debate RUN; or, without one, the retrieval or the fidelity of personas.

    Every formula stands in docs/crux.md. What no program can judge, such as who sounds like whom, people judge with
    --blind, then --answers. --fidelity asks models and is kept as a run. The sheet has seed 0 unless --seed gives
    another.
    """
    need_extra()
    fidelity = "personas" in command.task
    if [run_id is not None, retrieval, fidelity].count(True) != 1:
        raise ConfigurationError("bench takes one of: a RUN, --retrieval, or --fidelity A,B")
    if (blind or answers) and run_id is None:
        raise ConfigurationError("--blind and --answers are about a RUN; name it")
    if fidelity:
        command.task["people"] = people
        return _fidelity(command)
    if command.output.out or command.output.jsonl:
        raise ConfigurationError("--out and --jsonl tell of a run, and only --fidelity makes one")
    if run_id is None:
        figures = _retrieval(people)
    elif blind or answers:
        figures = _judged_by_people(command, run_id, blind, answers)
    else:
        figures = _measured(command, run_id)
    _show(figures, command.output.as_json)
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


def _held(command: RunCommand, run_id: str) -> tuple[DebateResult, list[Persona]]:
    from assay.protocols.crux.report.state import state_of
    from assay.registry import opened

    run_id = command.store.find(run_id)
    state = state_of(command.store, run_id)
    if state.run.started is None or not state.result.messages:
        raise ConfigurationError(f"nobody spoke in run {run_id}: there is nothing to measure")
    return state.result, seated(cast("Options", opened(state.run.started).options))


def _measured(command: RunCommand, run_id: str) -> dict[str, Any]:
    from crux.measurement.report import measure

    result, panel = _held(command, run_id)
    return measure(result, panel).model_dump(mode="json")


def _judged_by_people(command: RunCommand, run_id: str, blind: str | None, answers: str | None) -> dict[str, Any]:
    """Write the sheet, or score the one that was filled in."""
    from assay.protocols.crux.commands.read import write_out
    from crux.measurement.blind import answers_of, blind_sheet, score_sheet, sheet_csv
    from llm_runtime.tables import read_rows

    sheet = blind_sheet(*_held(command, run_id), seed=command.seed or 0)
    if blind:
        write_out(Path(blind), sheet_csv(sheet))
    given = answers_of(sheet, (row.data for row in read_rows(Path(answers)))) if answers else {}
    return {about: score.model_dump(mode="json") for about, score in score_sheet(sheet, given).items()}


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
