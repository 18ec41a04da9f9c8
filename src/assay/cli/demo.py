"""`assay demo`: the recorded runs, played through the real engines."""

from __future__ import annotations

from pathlib import Path

import click

from assay.cli.options import open_runs, store_option


@click.command()
@click.option("--speed", type=click.FloatRange(0), default=1.0, show_default=True, help="0 plays without waiting.")
@click.option(
    "--out",
    metavar="PATH",
    default="out/demo-council.html",
    show_default=True,
    help="Where the report goes.",
)
@click.option("-q", "--quiet", is_flag=True, help="No progress on standard error.")
@store_option
def demo(speed: float, out: str, quiet: bool, store_path: str | None) -> int:
    """Play a recorded council through the real engine; needs no model.

    Only the model function is a recording: triage, loops, red team, convergence, events, store and report are
    what a live run has. The answers were written by hand for this project and are no model's output.
    """
    from assay import demo as recordings
    from assay.cli.session import Presentation, present, start_run
    from llm_runtime.settings import Settings

    recorded = recordings.load("council")
    presentation = Presentation(out=out, quiet=quiet)
    store = open_runs(store_path)
    try:
        Path(out).parent.mkdir(parents=True, exist_ok=True)
        outcome = start_run(
            protocol="crucible",
            title=recorded.manifest["title"],
            task={"query": recorded.manifest["question"]},
            engine={"delta": "judge"},
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
        click.echo(
            f"Look closer:  assay runs show {outcome.run_id} --trace\n"
            'Ask your own: assay ask "..."   (assay models shows what you can reach)',
            err=True,
        )
        return code
    finally:
        store.close()
