"""`assay debate fork`: what one piece of evidence changes (CX26)."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from assay.console.declared import declares
from assay.console.options import read_text, terms_options, with_store
from llm_runtime.errors import ConfigurationError

if TYPE_CHECKING:
    from assay.terms import Terms
    from crux.card_changes import CardChange
    from llm_runtime.store import RunStore

_declares = declares(__package__ or "", "options.toml")
#: Characters of a text that fit what a room reads out.
_MOST = 2_000


@click.command()
@_declares("fork")
@terms_options
@_declares("fork-shown")
@with_store
def fork(
    store: RunStore, run: str, file: str, room: int, after_turn: int, terms: Terms, as_json: bool, **show: Any
) -> int:
    """Hold the debate RUN again with evidence read out in a crux room, and compare the cards.

    Up to that room every call is answered from RUN; only what the evidence changes is asked. The fork is a run of
    its own and keeps RUN as it is.
    """
    from assay.console.running import fork_run
    from assay.console.showing import OutputOptions, report_and_code
    from assay.protocols.crux.report.state import result_of, state_of
    from assay.protocols.crux.task import need_extra
    from crux.card_changes import compare_cards

    need_extra()
    text = _evidence(file)
    run_id = store.find(run)
    parent = state_of(store, run_id)
    opened = [one.id for one in parent.debate.rooms]
    if f"room-{room}" not in opened:
        raise ConfigurationError(f"run {run_id} has no room {room}; it has {', '.join(opened) or 'none'}")
    started = parent.run.started
    earlier: list[Any] = started.task.get("evidence", []) if started else []
    one = {"id": f"e{len(earlier) + 1}", "text": text, "room": f"room-{room}", "after_turn": after_turn}
    output = OutputOptions(**show)
    outcome = fork_run(run_id, store.summary(run_id).events, store, terms, output, {"evidence": [*earlier, one]})
    changes = compare_cards(parent.result, result_of(store, outcome.run_id))
    if as_json:
        data = {"run_id": outcome.run_id, "cards": [change.model_dump(mode="json") for change in changes]}
        click.echo(json.dumps(data, indent=1, ensure_ascii=False))
    else:
        _show(changes, outcome.run_id)
    return report_and_code(outcome, store, output)


def _evidence(file: str) -> str:
    text = " ".join(read_text(None, file, "evidence").split())
    if not text:
        raise ConfigurationError("the evidence is empty; give a text that bears on a card's question")
    if len(text) > _MOST:
        raise ConfigurationError(f"the evidence has {len(text):,} characters, a room hears {_MOST:,}; shorten it")
    return text


def _show(changes: tuple[CardChange, ...], run_id: str) -> None:
    from assay.report.clean import one_line

    for change in changes:
        labels = ", ".join(f"{name} {first} to {second}" for name, (first, second) in change.labels.items())
        click.echo(f"{change.change:<6} {one_line(change.question)}" + (f" ({one_line(labels)})" if labels else ""))
    if not changes:
        click.echo("no card before, and none after")
    click.echo(f"the fork is run {run_id}", err=True)
