"""`assay debate TOPIC`: a debate, from what it will cost to its cards."""

from __future__ import annotations

import sys
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
from assay.protocols.crux.people import open_people, panel_of, people_option
from llm_runtime.errors import ConfigurationError, MissingExtraError

if TYPE_CHECKING:
    from assay.console.session import Presentation
    from assay.launch import Outcome
    from crux import Persona
    from crux.estimate import Estimate
    from llm_runtime.pricing import Price
    from llm_runtime.settings import Settings
    from llm_runtime.store import RunStore

#: Micro-dollars above which a person at a terminal is asked first.
WORTH_ASKING = 1_000_000


@click.command()
@click.argument("topic", required=False)
@click.option("--personas", "names", metavar="A,B[,C...]", help="Who debates, by name or id; two or more.")
@click.option("-f", "--file", metavar="PATH", help="Read the topic from a file; - is standard input.")
@click.option("--aspects", default="3", show_default=True, metavar="auto|2..4", help="How many rounds.")
@click.option("--rooms", type=int, metavar="N", help="Crux rooms a round at most, 0 to 2 [default: 2].")
@click.option("--flip-test", is_flag=True, help="Negate each card's premise and close again: 2 calls a card.")
@click.option("--baselines", is_flag=True, help="Also ask for an answer without a debate, in two ways: 2 calls.")
@click.option("--fast", metavar="MODEL", help="The model of the small steps [default: the engine's].")
@click.option("--strong", metavar="MODEL", help="The model that speaks and writes cards [default: the engine's].")
@click.option("--no-temperature", is_flag=True, help="The models refuse a temperature: send none.")
@model_options
@cap_options
@click.option("-y", "--yes", is_flag=True, help="Do not ask, whatever it may cost.")
@click.option("--trace", is_flag=True, help="Show the whole debate after the cards.")
@click.option("--out", metavar="PATH", help="Write a report: .html, .md or .json by its ending.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object in place of the cards.")
@click.option("--jsonl", is_flag=True, help="Print every event as a line of JSON, as it happens.")
@click.option("--seed", type=click.IntRange(0, 2**53 - 1), help="The run's seed; drawn where left out.")
@click.option("-q", "--quiet", is_flag=True, help="No progress on standard error.")
@people_option
@store_option
def debate(
    topic: str | None,
    names: str | None,
    file: str | None,
    aspects: str,
    rooms: int | None,
    flip_test: bool,
    baselines: bool,
    fast: str | None,
    strong: str | None,
    no_temperature: bool,
    model: str | None,
    seats: tuple[str, ...],
    max_tokens: int | None,
    budget: float | None,
    max_calls: int | None,
    deadline: float | None,
    yes: bool,
    trace: bool,
    out: str | None,
    as_json: bool,
    jsonl: bool,
    seed: int | None,
    quiet: bool,
    people: str | None,
    store_path: str | None,
) -> int:
    """Let personas debate TOPIC, a question that can be answered yes or no.

    Before anything is asked it says how many calls it will take and what they will cost. The cards go to standard
    output, progress to standard error; the whole run is kept (see: assay runs). A debate that reaches its cap stops
    with what there is, and can be resumed.

    \b
    assay debate "Should software decide who waits?" --personas maud-tarrowby,ilario-fennimast
    assay debate -f topic.txt --personas hamilton,brutus --aspects auto --budget 0.80 --out debate.html
    """
    from assay.console.session import Presentation, start_run
    from crux import ModelTable

    settings = settings_from(model, seats, max_tokens)
    asked = " ".join(read_text(topic, file, "topic").split())
    if not asked:
        raise ConfigurationError("the topic is empty; give a question that can be answered yes or no")
    if names is None:
        raise ConfigurationError("nobody debates: name two or more, e.g. --personas maud-tarrowby,ilario-fennimast")
    need_extra()
    table = ModelTable()
    engine = {
        "models": [fast or table.fast.id, strong or table.strong.id],
        "takes_temperature": not no_temperature,
        "debate": options_from(aspects, rooms, flip_test=flip_test, baselines=baselines),
    }
    panel = panel_of(names, open_people(people))
    presentation = Presentation(out=out, trace=trace, as_json=as_json, jsonl=jsonl, quiet=quiet)
    presentation.check()
    caps = caps_from(budget, max_calls, deadline)
    announce(panel, engine, settings, yes=yes, quiet=quiet, budget=caps.cost if caps else None)
    store = open_runs(store_path)
    try:
        outcome = start_run(
            protocol="crux",
            title=asked[:200],
            task={"topic": asked, "evidence": []},
            engine=engine,
            personas=[persona.model_dump(mode="json") for persona in panel],
            settings=settings,
            caps=caps,
            store=store,
            seed=seed,
            presentation=presentation,
        )
        return present_debate(outcome, store, presentation)
    finally:
        store.close()


def need_extra() -> None:
    """Refuse at once what would fail at the first retrieval.

    Raises:
        MissingExtraError: scikit-learn or networkx is not installed.
    """
    from importlib.util import find_spec

    if find_spec("sklearn") is None or find_spec("networkx") is None:
        raise MissingExtraError("a debate", "debate")


def options_from(aspects: str, rooms: int | None, *, flip_test: bool, baselines: bool) -> dict[str, Any]:
    """What the flags say of a debate, and nothing of the rest.

    Raises:
        ConfigurationError: ``--aspects`` is neither ``auto`` nor 2 to 4, or ``--rooms`` is not 0 to 2.
    """
    if aspects not in ("auto", "2", "3", "4"):
        raise ConfigurationError(f"--aspects takes auto, 2, 3 or 4; it was given {ascii(aspects)[1:-1][:40]}")
    if rooms is not None and not 0 <= rooms <= 2:
        raise ConfigurationError(f"--rooms takes 0, 1 or 2; it was given {rooms}")
    options: dict[str, Any] = {"aspects": "auto" if aspects == "auto" else int(aspects)}
    if rooms is not None:
        options["rooms_per_aspect"] = rooms
    if flip_test:
        options["flip_test"] = True
    if baselines:
        options["baselines"] = True
    return options


def announce(
    panel: list[Persona], engine: dict[str, Any], settings: Settings, *, yes: bool, quiet: bool, budget: int | None
) -> None:
    """Say how many calls a debate takes and what they cost; ask a person at a terminal where it is over a dollar.

    Raises:
        click.Abort: the person said no.
    """
    from assay.protocols.crux.task import configured
    from crux.estimate import estimate

    found = estimate(len(panel), configured(engine), price_of(settings))
    if not quiet:
        click.echo(said_estimate(found), err=True)
    worst = None if found.cost is None else found.cost if budget is None else min(found.cost, budget)
    dear = worst is None or worst > WORTH_ASKING
    if dear and not yes and sys.stdin.isatty() and sys.stderr.isatty():
        click.confirm("Go on?", abort=True, err=True)


def said_estimate(found: Estimate) -> str:
    """The estimate in two lines."""
    from assay.report.units import count, money, several

    cost = "at a price nobody has written down" if found.cost is None else f"about {money(found.cost)}"
    most = "" if found.most_cost is None else f" ({money(found.most_cost)} at the very most)"
    return (
        f"about {several(found.calls, 'call')}, {cost}{most}; {count(found.least)} calls where nobody disagrees, "
        f"never more than {count(found.most)}\nassumed: {found.assumes}"
    )


def price_of(settings: Settings) -> Any:
    """The price of a model as this debate would reach it: what ``--model`` names answers for every one."""
    from llm_runtime.pricing import load_prices
    from llm_runtime.routing import parse_model

    prices = load_prices(settings.prices_path)
    named = settings.config.model

    def price(model: str) -> Price | None:
        target = parse_model(named or model)
        return prices.find(target.provider, target.model) if target else prices.find("", named or model)

    return price


def present_debate(outcome: Outcome, store: RunStore, presentation: Presentation) -> int:
    """Show how a debate ended; one that was stopped shows what there is."""
    from assay.console.session import present
    from assay.registry import story_of
    from assay.report.clean import clean
    from assay.report.terminal import print_story

    silent = presentation.as_json or presentation.jsonl
    if not silent and (outcome.state == "stopped" or not sys.stdout.isatty()):
        if sys.stdout.isatty():
            print_story(story_of(store.records(outcome.run_id)), sys.stdout, whole=presentation.trace)
        elif outcome.state != "failed":
            click.echo(clean(cards_text(store, outcome.run_id, whole=presentation.trace)))
        return _reported(outcome, store, presentation)
    return present(outcome, store, presentation)


def cards_text(store: RunStore, run_id: str, *, whole: bool = False) -> str:
    """The cards of a run as Markdown; with ``whole`` the debate with them."""
    from assay.protocols.crux.report import result_of
    from crux.exports import to_markdown

    text = to_markdown(result_of(store, run_id))
    return text.strip() if whole else text.partition("\n## The debate\n")[0].strip()


def _reported(outcome: Outcome, store: RunStore, presentation: Presentation) -> int:
    """What is left of :func:`assay.console.session.present` when the cards have been shown."""
    from dataclasses import replace

    from assay.console.session import present

    return present(outcome, store, replace(presentation, jsonl=True))
