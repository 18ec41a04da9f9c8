"""`assay demo`: the recorded runs, played through the real engines."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from assay.cli.options import finite, open_runs, store_option

_NEXT = {
    "council": 'Ask your own: assay ask "..."   (assay models shows what you can reach)\n'
    "Play another: assay demo circle   (a prompt that remembers a conversation; a quarter of a minute)",
    "circle": "Judge your own: assay circle evaluate prompt.yaml\n"
    "Measure whether dialogue helps: assay circle study DATA   (see docs/fire-circle.md)",
    "build": "",  # says itself what to do next
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
    or debate, two authors down to what divides them (needs the extra: pip install 'assay[debate]'), or build, an
    interview down to verified code (needs the extra: pip install 'assay[code]'; some minutes of real tests).

    Only the model function is a recording: rounds, attacks, patterns, events, store and report are what a live run
    has. The answers were written by hand for this project and are no model's output.
    """
    if name == "trial":
        from assay.demo.trial import play

        return play(Path(out or "out/demo-trial.html"), speed=speed, quiet=quiet)
    if name == "build":
        from assay.cli.build import play

        return play(Path(out or "out/demo-build"), quiet=quiet)
    from assay import demo as recordings
    from assay.cli.session import Presentation, present, start_run
    from assay.demo.openings import engine_of
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
            **engine_of(recorded),
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
        click.echo(_pages(), err=True)
        return code
    finally:
        store.close()


def _pages() -> str:
    """Where to look next, by the command that was just used."""
    command = sys.argv[0] if "/" in sys.argv[0] and not Path(sys.argv[0]).is_absolute() else "assay"
    return (
        f"\nSee what happened, and why, in your browser:  {command} serve --open\n"
        "It prints one address, http://127.0.0.1:8737/open?key=..., and opens it. All five protocols are explained "
        "there, and the other recordings play from there."
    )
