"""`assay debate TOPIC`: a debate, from what it will cost to its cards."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import TYPE_CHECKING, cast

import click

from assay.console.declared import declares
from assay.console.running import RunCommand, run_command
from assay.protocols.crux.commands.asking import ask_to_go_on, in_money, price_of
from assay.protocols.crux.task import Options

if TYPE_CHECKING:
    from assay.console.showing import OutputOptions
    from assay.launch import Outcome
    from llm_runtime.store import RunStore


@run_command("crux.debate", trace="Show the whole debate after the cards.", noun="cards")
@declares(__package__ or "", "options.toml")("debate")
def debate(command: RunCommand, compared: str | None, yes: bool, people: str | None) -> int:
    """Let personas debate TOPIC, a question that can be answered yes or no.

    Before anything is asked it says how many calls it will take and what they will cost. The cards go to standard
    output, progress to standard error; the whole run is kept (see: assay runs). A debate that reaches its cap stops
    with what there is, and can be resumed.

    \b
    assay debate "Should software decide who waits?" --personas maud-tarrowby,ilario-fennimast
    assay debate -f topic.txt --personas hamilton,brutus --aspects auto --budget 0.80 --out debate.html
    """
    command.options["people"] = people
    if compared is not None:
        command.options["questions"] = _candidates(command.store, compared)
    _announce(command, yes=yes)
    return present_debate(command.go(), command.store, command.output)


def _candidates(store: RunStore, run: str) -> list[str]:
    """Return the questions of a comparison, confirmed ones first.

    Raises:
        ConfigurationError: the run is no finished comparison, or found none.
    """
    from assay.protocols.crux.report.comparison import comparison_of
    from llm_runtime.errors import ConfigurationError

    comparison = comparison_of(store, store.find(run))
    ranked = sorted(comparison.candidates, key=lambda one: not one.confirmed) if comparison else []
    if not ranked:
        raise ConfigurationError(f"compared: run {run} holds no candidate cruxes; see: assay debate compare --help")
    return [one.question for one in ranked[:4]]


def _announce(command: RunCommand, *, yes: bool) -> None:
    """Say how many calls a debate takes and what they cost; ask where that is over a dollar.

    Raises:
        click.Abort: the person refused.
    """
    from assay.report.units import count, count_noun, money
    from crux.estimate import estimate

    options = cast("Options", command.prepared.options)
    expected = estimate(len(options.panel), options.config(), price_of(command.settings))
    if not command.output.quiet:
        most = "" if expected.most_cost is None else f" ({money(expected.most_cost)} at the very most)"
        usual = f"about {count_noun(expected.calls, 'call')}, {in_money(expected.cost)}{most}"
        bounds = f"{count(expected.least)} calls where nobody disagrees, never more than {count(expected.most)}"
        click.echo(f"{usual}; {bounds}\nassumed: {expected.assumes}", err=True)
    cap = command.terms.caps.cost
    ask_to_go_on(expected.cost if expected.cost is None or cap is None else min(expected.cost, cap), yes=yes)


def present_debate(outcome: Outcome, store: RunStore, output: OutputOptions) -> int:
    """Show how a debate ended; a pipe is given the cards as Markdown, those of a stopped debate too."""
    from assay.console.showing import present, report_and_code
    from assay.report.clean import clean

    if output.as_json or output.jsonl or outcome.state == "failed" or sys.stdout.isatty():
        return present(outcome, store, output)
    click.echo(clean(cards_text(store, outcome.run_id, whole=output.trace)))
    return report_and_code(outcome, store, output)


def cards_text(store: RunStore, run_id: str, *, whole: bool = False) -> str:
    """Return the cards of a run as Markdown; with ``whole`` the debate with them."""
    from assay.protocols.crux.report.state import state_of
    from assay.protocols.crux.report.story import debate_story
    from assay.report.markdown import story_markdown

    story = debate_story(state_of(store, run_id))
    return story_markdown(story if whole else replace(story, sections=story.sections[:1])).strip()
