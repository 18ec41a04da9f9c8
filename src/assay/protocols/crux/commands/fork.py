"""`assay debate fork`: what one piece of evidence changes (CX26)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from assay.console.options import cap_options, caps_from, model_options, open_runs, read_text, store_option
from assay.protocols.crux.commands.run import need_extra, present_debate
from llm_runtime.errors import ConfigurationError

if TYPE_CHECKING:
    from crux.card_changes import CardChange

#: Characters of a text that fit what a room reads out.
_MOST = 2_000


@click.command()
@click.argument("run_id", metavar="RUN")
@click.option(
    "--evidence", "file", metavar="FILE", required=True, help="The text to read out; - is standard input."
)
@click.option(
    "--room", type=click.IntRange(1), default=1, show_default=True, help="In which room, in order of opening."
)
@click.option(
    "--after-turn", type=click.IntRange(0, 16), default=2, show_default=True, help="After how many turns."
)
@model_options
@cap_options
@click.option("--out", metavar="PATH", help="Write a report of the fork: .html, .md or .json by its ending.")
@click.option("--json", "as_json", is_flag=True, help="Print what became of the cards as JSON.")
@click.option("-q", "--quiet", is_flag=True, help="No progress on standard error.")
@store_option
def fork(
    run_id: str,
    file: str,
    room: int,
    after_turn: int,
    model: str | None,
    seats: tuple[str, ...],
    max_tokens: int | None,
    budget: float | None,
    max_calls: int | None,
    deadline: float | None,
    out: str | None,
    as_json: bool,
    quiet: bool,
    store_path: str | None,
) -> int:
    """Hold the debate RUN again with evidence read out in a crux room, and compare the cards.

    Up to that room every call is answered from RUN; only what the evidence changes is asked. The fork is a run of
    its own and keeps RUN as it is.
    """
    import json

    from assay.console.session import Presentation, fork_run
    from assay.protocols.crux.report.state import result_of, state_of
    from crux.card_changes import compare_cards

    need_extra()
    text = " ".join(read_text(None, file, "evidence").split())
    if not text:
        raise ConfigurationError("the evidence is empty; give a text that bears on a card's question")
    if len(text) > _MOST:
        raise ConfigurationError(f"the evidence has {len(text):,} characters, a room hears {_MOST:,}; shorten it")
    store = open_runs(store_path)
    try:
        run_id = store.find(run_id)
        parent = state_of(store, run_id)
        opened = [one.id for one in parent.rooms]
        if f"room-{room}" not in opened:
            raise ConfigurationError(f"run {run_id} has no room {room}; it has {', '.join(opened) or 'none'}")
        outcome = fork_run(
            run_id,
            sum(1 for _ in store.records(run_id)),
            store,
            (model, seats, max_tokens),
            caps_from(budget, max_calls, deadline),
            Presentation(out=out, quiet=quiet),
            task=_task(parent.run.started.task if parent.run.started else {}, text, room, after_turn),
        )
        changes = compare_cards(parent.result.cards, result_of(store, outcome.run_id).cards)
        if as_json:
            data = {"run_id": outcome.run_id, "cards": [one.model_dump(mode="json") for one in changes]}
            click.echo(json.dumps(data, indent=1, ensure_ascii=False))
        else:
            _show(changes, outcome.run_id)
        return present_debate(outcome, store, Presentation(out=out, jsonl=True))
    finally:
        store.close()


def _task(parent: dict[str, Any], text: str, room: int, after_turn: int) -> dict[str, Any]:
    evidence = list(parent.get("evidence", ()))
    one = {"id": f"e{len(evidence) + 1}", "text": text, "room": f"room-{room}", "after_turn": after_turn}
    return {**parent, "evidence": [*evidence, one]}


def _show(changes: tuple[CardChange, ...], run_id: str) -> None:
    from assay.report.clean import one_line

    for change in changes:
        labels = ", ".join(f"{name} {first} to {second}" for name, (first, second) in change.labels.items())
        click.echo(f"{change.change:<6} {one_line(change.question)}" + (f" ({one_line(labels)})" if labels else ""))
    if not changes:
        click.echo("no card before, and none after")
    click.echo(f"the fork is run {run_id}", err=True)
