"""`assay debate bench`: the measures of a debate, the retrieval behind it, and how well a persona is predicted."""

from __future__ import annotations

import asyncio
import json
import sys
from typing import TYPE_CHECKING, Any

import click

from assay.console.options import cap_options, caps_from, model_options, open_runs, settings_from, store_option
from assay.protocols.crux.people import open_people, people_option, persona_of
from llm_runtime.errors import ConfigurationError

if TYPE_CHECKING:
    from crux import Persona
    from crux.measurement import HeldOut
    from llm_runtime.settings import Settings
    from llm_runtime.wrappers.budgeted import Caps


@click.command()
@click.argument("run_id", metavar="RUN", required=False)
@click.option("--retrieval", is_flag=True, help="Are the texts that an essay answers found again? Asks no model.")
@click.option(
    "--fidelity", metavar="A,B", help="Hide a fifth of A's texts and predict A's answers, B's as control."
)
@click.option("--json", "as_json", is_flag=True, help="Print the figures as JSON.")
@click.option("--seed", type=click.IntRange(0, 2**53 - 1), default=0, show_default=True, help="Of every lot.")
@model_options
@cap_options
@people_option
@store_option
def bench(
    run_id: str | None,
    retrieval: bool,
    fidelity: str | None,
    as_json: bool,
    seed: int,
    model: str | None,
    seats: tuple[str, ...],
    max_tokens: int | None,
    budget: float | None,
    max_calls: int | None,
    deadline: float | None,
    people: str | None,
    store_path: str | None,
) -> int:
    """Measure the debate RUN; or, without one, the retrieval or the fidelity of personas.

    Every formula stands in docs/crux.md. What no program can judge, such as who sounds like whom, is marked as a
    stand-in.
    """
    from assay.protocols.crux.commands.run import need_extra

    need_extra()
    asked = [run_id is not None, retrieval, fidelity is not None]
    if sum(asked) != 1:
        raise ConfigurationError("bench takes one of: a RUN, --retrieval, or --fidelity A,B")
    if run_id is not None:
        figures = _of_run(run_id, store_path, seed)
    elif retrieval:
        figures = _retrieval(people)
    else:
        settings = settings_from(model, seats, max_tokens)
        pair = [
            persona_of(name.strip(), open_people(people)) for name in (fidelity or "").split(",") if name.strip()
        ]
        if len(pair) != 2:
            raise ConfigurationError("--fidelity takes two names, e.g. --fidelity maud-tarrowby,ilario-fennimast")
        found = asyncio.run(_fidelity(pair, settings, caps_from(budget, max_calls, deadline), seed))
        figures = found.model_dump(mode="json")
    if as_json:
        click.echo(json.dumps(figures, indent=1, ensure_ascii=False))
    else:
        _show(figures)
    return 0


def _of_run(run_id: str, store_path: str | None, seed: int) -> dict[str, Any]:
    from assay.protocols.crux.report.state import state_of
    from assay.protocols.crux.task import seated
    from crux.measurement import measure

    store = open_runs(store_path)
    try:
        run_id = store.find(run_id)
        state = state_of(store, run_id)
    finally:
        store.close()
    if state.run.started is None or not state.result.messages:
        raise ConfigurationError(f"nobody spoke in run {run_id}: there is nothing to measure")
    return measure(state.result, seated(state.run.started), seed=seed).model_dump(mode="json")


def _retrieval(people: str | None) -> dict[str, Any]:
    """Gold replies over all texts that are known: those imported, and the shipped authors'."""
    from crux.measurement import gold_replies
    from crux.personas import shipped_authors, shipped_corpus

    store = open_people(people)
    shelves = [store.corpus(name).corpus for name in store.names()]
    shelves += [shipped_corpus(author).corpus for author in shipped_authors()]
    essays = list({item.id: item for shelf in shelves for item in shelf.items}.values())
    return gold_replies(essays, essays).model_dump(mode="json")


async def _fidelity(pair: list[Persona], settings: Settings, caps: Caps | None, seed: int) -> HeldOut:
    from crux.measurement import held_out_fidelity
    from llm_runtime.gateway import Gateway

    async with Gateway(settings, caps=caps) as gateway:
        await gateway.ready()
        return await held_out_fidelity(pair[0], pair[1], generate=gateway.generate, seed=seed)


def _show(figures: dict[str, Any]) -> None:
    from assay.report.clean import one_line

    for name, value in _flat(figures):
        click.echo(f"{one_line(name, 60):<44} {one_line(value, 160)}", file=sys.stdout)


def _flat(figures: dict[str, Any], under: str = "") -> list[tuple[str, str]]:
    """One line a figure; a share with its interval is one figure."""
    lines: list[tuple[str, str]] = []
    for key, value in figures.items():
        name = f"{under}{key}"
        if isinstance(value, dict) and {"hits", "of"} <= value.keys():  # pyright: ignore[reportUnknownMemberType]
            lines.append((name, _share(value)))  # pyright: ignore[reportUnknownArgumentType]
        elif isinstance(value, dict):
            lines += _flat(value, f"{name}.")  # pyright: ignore[reportUnknownArgumentType]
        elif isinstance(value, list):
            lines.append((name, str(len(value))))  # pyright: ignore[reportUnknownArgumentType]
        else:
            lines.append((name, f"{value:.3f}" if isinstance(value, float) else str(value)))
    return lines


def _share(data: dict[str, Any]) -> str:
    told = f"{data['hits']} of {data['of']}"
    if data.get("low") is not None:
        told += f" ({data['value']:.0%}, 95% interval {data['low']:.0%} to {data['high']:.0%})"
    return told
