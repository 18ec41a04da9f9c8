"""`assay demo`: the recorded runs, played through the real engines."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from assay.cli.options import finite, open_runs, store_option

if TYPE_CHECKING:
    from assay.demo import Recorded

_NEXT = {
    "council": 'Ask your own: assay ask "..."   (assay models shows what you can reach)\n'
    "Play another: assay demo circle   (a prompt that remembers a conversation; a quarter of a minute)",
    "circle": "Judge your own: assay circle evaluate prompt.yaml\n"
    "Measure whether dialogue helps: assay circle study DATA   (see docs/fire-circle.md)",
    "debate": 'Hold your own: assay debate "..." --personas maud-tarrowby,ilario-fennimast   (see docs/crux.md)',
    "trial": "",  # says itself what to do next
}


@click.command()
@click.argument("name", type=click.Choice(list(_NEXT)), default="council")
@click.option(
    "--speed",
    type=click.FloatRange(0),
    callback=finite,
    default=1.0,
    show_default=True,
    help="0 plays without waiting.",
)
@click.option("--out", metavar="PATH", help="Where the report goes [default: out/demo-NAME.html].")
@click.option("-q", "--quiet", is_flag=True, help="No progress on standard error.")
@store_option
def demo(name: str, speed: float, out: str | None, quiet: bool, store_path: str | None) -> int:
    """Play a recorded run through the real engine; needs no model.

    NAME is council, a question before a council with a red team, or circle, a prompt before a circle of judges,
    or debate, two authors down to what divides them (needs the extra: pip install 'assay[debate]').

    Only the model function is a recording: rounds, attacks, patterns, events, store and report are what a live run
    has. The answers were written by hand for this project and are no model's output.
    """
    if name == "trial":
        from assay.demo.trial import play

        return play(Path(out or "out/demo-trial.html"), speed=speed, quiet=quiet)
    from assay import demo as recordings
    from assay.cli.session import Presentation, present, start_run
    from llm_runtime.settings import Settings

    if name == "debate":
        from assay.cli.debate_run import need_extra

        need_extra()
    recorded = recordings.load(name)
    out = out or f"out/demo-{name}.html"
    presentation = Presentation(out=out, quiet=quiet)
    store = open_runs(store_path)
    try:
        Path(out).parent.mkdir(parents=True, exist_ok=True)
        outcome = start_run(
            **_opening(recorded),
            title=recorded.manifest["title"],
            settings=Settings(),
            caps=None,
            store=store,
            seed=recorded.manifest["settings"]["seed"],
            presentation=presentation,
            model=recorded.model(speed * recorded.manifest["settings"]["pace"]),
            origin="demo",
        )
        code = present(outcome, store, presentation)
        click.echo("\n" + click.wrap_text(recorded.manifest["statement"]), err=True)
        click.echo(f"Look closer:  assay runs show {outcome.run_id} --trace\n{_NEXT[name]}", err=True)
        return code
    finally:
        store.close()


def _opening(recorded: Recorded) -> dict[str, Any]:
    """What is run: protocol, task and engine."""
    manifest = recorded.manifest
    if recorded.name == "debate":
        from assay.demo.debate import opening

        return opening(recorded)
    if recorded.name == "circle":
        engine: dict[str, Any] = {
            "mode": "fire_circle",
            "models": manifest["settings"]["models"],
            "circle": {},
            "calls": {},
        }
        return {"protocol": "fire_circle", "task": manifest["prompt"], "engine": engine}
    return {"protocol": "crucible", "task": {"query": manifest["question"]}, "engine": {"delta": "judge"}}
