"""`assay demo`: the recorded runs, played through the real engines."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

import click

from assay.console.options import finite, open_runs, store_option

_OWN = {
    "council": 'Ask your own:  assay ask "..."   (assay models shows what you can reach)',
    "circle": "Judge your own:  assay circle evaluate prompt.yaml\n"
    "Measure whether dialogue helps:  assay circle study DATA   (see docs/fire-circle.md)",
    "trial": "Try a model:  assay trial run all --model PROVIDER/MODEL --k 5   (see docs/ai-crucible.md)",
    "build": "Build your own:  assay build init NAME   (see docs/criticality.md)",
    "debate": 'Hold your own:  assay debate "..." --personas maud-tarrowby,ilario-fennimast   (see docs/crux.md)',
}
"""By recording, in the order in which a newcomer meets them: how to do the same with models."""


@click.command()
@click.argument("name", type=click.Choice(list(_OWN)), default="council")
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

    \b
    council  a question before a council with a red team; half a minute
    circle   a prompt before a circle of judges; a quarter of a minute
    trial    three solvers of sealed puzzles; half a minute (pip install 'assay[eval]')
    build    an interview down to verified code; some minutes of real tests (pip install 'assay[code]')
    debate   two authors down to what divides them; two minutes (pip install 'assay[debate]')

    Only the model function is a recording: rounds, attacks, patterns, events, store and report are what a live run
    has. The answers were written by hand for this project and are no model's output.
    """
    code = _played(name, speed, out, quiet, store_path)
    click.echo(f"\n{_OWN[name]}\n{_others(name)}\n\n{_pages(store_path)}", err=True)
    return code


def _played(name: str, speed: float, out: str | None, quiet: bool, store_path: str | None) -> int:
    if name == "trial":
        from assay.protocols.ai_crucible.demo import play

        return play(Path(out or "out/demo-trial.html"), speed=speed, quiet=quiet)
    if name == "build":
        from assay.protocols.criticality.commands import play

        return play(Path(out or "out/demo-build"), quiet=quiet)
    from assay import demo as recordings
    from assay.console.session import Presentation, present, start_run
    from assay.demo.openings import engine_of
    from llm_runtime.settings import Settings

    if name == "debate":
        from assay.protocols.crux.commands.run import need_extra

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
        click.echo(f"\nLook closer:  assay runs show {outcome.run_id} --trace", err=True)
        return code
    finally:
        store.close()


def _others(name: str) -> str:
    """The recordings that come after this one, and around to it."""
    names = list(_OWN)
    place = names.index(name)
    return f"Play another:  {_command()} demo {names[(place + 1) % len(names)]}   (there are: {', '.join(names)})"


def _pages(store_path: str | None) -> str:
    """The one address: where all of it can be seen."""
    kept = f" --store {shlex.quote(store_path)}" if store_path else ""
    return (
        f"See it in your browser:  {_command()} serve --open{kept}\n"
        "It prints one address, http://127.0.0.1:8737/open?key=..., and opens it.\n"
        "What each of the five protocols did, and why, is explained there."
    )


def _command() -> str:
    """This program, as it was just called."""
    return sys.argv[0] if "/" in sys.argv[0] and not Path(sys.argv[0]).is_absolute() else "assay"
