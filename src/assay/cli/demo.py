"""`assay demo`: the recorded runs, played through the real engines."""

from __future__ import annotations

import secrets
import shlex
import sys
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from assay.console.declared import FiniteRange, declares
from assay.console.options import open_runs
from assay.console.showing import OutputOptions
from assay.registry import OURS, ours
from llm_runtime.errors import ConfigurationError

if TYPE_CHECKING:
    from llm_runtime.store import RunStore

_DEMOS = {one.name: one for name in OURS if (one := ours(name).demo) is not None}
"""By name, in the order in which a newcomer meets the protocols."""


def _help() -> str:
    width = max(map(len, _DEMOS))
    listed = "\n".join(f"    {name:<{width}}  {one.about}" for name, one in _DEMOS.items())
    return f"""Play a recorded run through the real engine; needs no model.

    \b
{listed}

    Only the model function is a recording: rounds, attacks, patterns, events, store and report are what a live run
    has. The answers were written by hand for this project and are no model's output.
    """


@click.command(help=_help())
@click.argument("name", type=click.Choice(list(_DEMOS)), default="council")
@click.option("--speed", type=FiniteRange(0), default=1.0, show_default=True, help="0 plays without waiting.")
@declares(__package__ or "", "demo.toml")("demo")
def demo(name: str, speed: float, out: str | None, quiet: bool, store_path: str | None) -> int:
    code = _play(name, speed, out or f"out/demo-{name}.html", quiet, store_path)
    click.echo(f"\n{_DEMOS[name].own}\n{_others(name)}\n\n{_pages(store_path)}", err=True)
    return code


def _play(name: str, speed: float, out: str, quiet: bool, store_path: str | None) -> int:
    from assay.console.running import followed, launcher_of, show_until_end
    from assay.console.showing import present
    from assay.demo import has_log, prepare_demo
    from llm_runtime.settings import data_dir

    Path(out).parent.mkdir(parents=True, exist_ok=True)
    output = OutputOptions(out=out, quiet=quiet)
    output.check()
    with closing(open_runs(store_path)) as store:
        try:
            prepared = prepare_demo(name, data_dir() / "demo" / secrets.token_hex(4), speed)
        except ConfigurationError as fault:
            if not has_log(name):
                raise
            return _show_log(name, str(fault), store, output)
        launcher = launcher_of(store)
        run_id = launcher.new_id()
        told = {"seed": prepared.seed, "title": prepared.title, "model": prepared.model}
        begin = followed(partial(launcher.start, prepared.run, run_id=run_id, origin="demo", **told))
        hint = f"play it again with: {_command()} demo {name}"
        outcome = show_until_end(prepared.run.run.name, run_id, output, None, begin, hint)
        code = present(outcome, store, output)
        click.echo("\n" + click.wrap_text(prepared.statement), err=True)
        if "folder" in outcome.result:
            click.echo(f"\nIt lies in:    {outcome.result['folder']}", err=True)
        click.echo(f"\nLook closer:  assay runs show {outcome.run_id} --trace", err=True)
        return code


def _show_log(name: str, reason: str, store: RunStore, output: OutputOptions) -> int:
    """Show the run that was played beforehand, where this machine lacks what the recording needs."""
    from assay.console.running import launcher_of
    from assay.console.showing import present
    from assay.demo import import_played
    from assay.launch import Outcome

    run_id = import_played(store, name, launcher_of(store).new_id())
    click.echo(f"assay: {reason}; this is what it came to when it was played elsewhere", err=True)
    return present(Outcome(run_id, "finished", {}), store, output)


def _others(name: str) -> str:
    """Name the recording that comes after this one, and all that there are."""
    names = list(_DEMOS)
    place = names.index(name)
    return f"Play another:  {_command()} demo {names[(place + 1) % len(names)]}   (there are: {', '.join(names)})"


def _pages(store_path: str | None) -> str:
    """Say how to see all of it in a browser."""
    store = f" --store {shlex.quote(store_path)}" if store_path else ""
    return (
        f"See it in your browser:  {_command()} serve --open{store}\n"
        "It prints one address, http://127.0.0.1:8737/open?key=..., and opens it.\n"
        "What each of the five protocols did, and why, is explained there."
    )


def _command() -> str:
    """Return the name that this program was called by."""
    return sys.argv[0] if "/" in sys.argv[0] and not Path(sys.argv[0]).is_absolute() else "assay"
