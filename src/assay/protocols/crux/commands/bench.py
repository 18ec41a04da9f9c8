"""`assay debate bench`: the measures of a debate, and the retrieval behind it."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click

from assay.console.options import open_runs, store_option
from assay.protocols.crux.people import open_people, people_option
from assay.protocols.crux.task import Options, need_extra, seated
from llm_runtime.errors import ConfigurationError

if TYPE_CHECKING:
    from crux.personas.persona import Persona
    from crux.results import DebateResult
    from llm_runtime.store import RunStore


@click.command()
@click.argument("run_id", metavar="RUN", required=False)
@click.option("--retrieval", is_flag=True, help="Are the texts that an essay answers found again? Asks no model.")
@click.option("--blind", metavar="FILE", help="Write a sheet (.csv) of RUN, names masked, for people to fill in.")
@click.option("--answers", metavar="FILE", help="Score a sheet of RUN that people filled in.")
@click.option("--seed", type=click.IntRange(0, 2**53 - 1), default=0, help="Of the sheet [default: 0].")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object in place of the figures.")
@people_option
@store_option
def bench(
    run_id: str | None,
    retrieval: bool,
    blind: str | None,
    answers: str | None,
    seed: int,
    as_json: bool,
    people: str | None,
    store_path: str | None,
) -> int:
    """Measure the debate RUN; or, with --retrieval, how passages are found.

    Every formula stands in docs/crux.md. What no program can judge, such as who sounds like whom, people judge with
    --blind, then --answers.
    """
    need_extra()
    if (run_id is not None) == retrieval:
        raise ConfigurationError("bench takes one of: a RUN, or --retrieval")
    if (blind or answers) and run_id is None:
        raise ConfigurationError("--blind and --answers are about a RUN; name it")
    if run_id is None:
        figures = _retrieval(people)
    else:
        with closing(open_runs(store_path)) as store:
            held = _held(store, run_id)
        figures = _judged_by_people(held, seed, blind, answers) if blind or answers else _measured(held[0])
    _show(figures, as_json)
    return 0


def _held(store: RunStore, run_id: str) -> tuple[DebateResult, list[Persona]]:
    from assay.protocols.crux.report.state import state_of
    from assay.registry import opened

    run_id = store.find(run_id)
    state = state_of(store, run_id)
    if state.run.started is None or not state.result.messages:
        raise ConfigurationError(f"nobody spoke in run {run_id}: there is nothing to measure")
    return state.result, seated(cast("Options", opened(state.run.started).options))


def _measured(result: DebateResult) -> dict[str, Any]:
    from crux.measurement.debate_quality import debate_quality

    return debate_quality(result).model_dump(mode="json")


def _judged_by_people(
    held: tuple[DebateResult, list[Persona]], seed: int, blind: str | None, answers: str | None
) -> dict[str, Any]:
    """Write the sheet, or score the one that was filled in."""
    from assay.protocols.crux.commands.read import write_out
    from crux.measurement.blind import answers_of, blind_sheet, score_sheet, sheet_csv
    from llm_runtime.tables import read_rows

    sheet = blind_sheet(*held, seed=seed)
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
