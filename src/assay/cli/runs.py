"""`assay runs`: everything that was ever run, kept, looked at again, gone on with."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, cast

import click

from assay.console.options import open_runs, store_option, terms_options
from llm_runtime.errors import ConfigurationError, LlmRuntimeError

if TYPE_CHECKING:
    from collections.abc import Callable

    from assay.console.showing import OutputOptions
    from assay.launch import Outcome
    from assay.terms import Terms
    from llm_runtime.store import RunStore

STATES = ["running", "interrupted", "finished", "stopped", "failed"]


@click.group()
def runs() -> None:
    """List, show, resume, replay, fork, export, import, verify and recover runs.

    RUN is a run's id, the beginning of one, or "latest".
    """


@runs.command("list")
@click.option("--protocol", help="Only runs of this protocol.")
@click.option("--search", metavar="TEXT", help="Only runs whose title or id contains TEXT.")
@click.option("--state", type=click.Choice(STATES), help="Only runs in this state.")
@click.option("-n", "--limit", type=click.IntRange(1), default=20, show_default=True, help="At most so many.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
@store_option
def list_runs(
    protocol: str | None, search: str | None, state: Any, limit: int, as_json: bool, store_path: str | None
) -> None:
    """List runs, newest first."""
    from assay.launch.glimpses import glimpses
    from assay.registry import known

    with closing(open_runs(store_path)) as store:
        summaries = store.runs(
            protocol=kind.names if (kind := known(protocol or "")) else protocol,
            search=search,
            state=state,
            limit=limit,
        )
        # Whoever wants data of thousands waits for no log.
        standings = {} if as_json else glimpses(store, summaries)
    if as_json:
        import json
        from dataclasses import asdict

        click.echo(json.dumps({"runs": [asdict(summary) for summary in summaries]}, indent=1))
        return
    if not summaries:
        narrowed = protocol or search or state
        click.echo(
            "no run is like that; leave out --protocol, --search or --state to see them all"
            if narrowed
            else "no runs yet; make one with: assay demo, or assay ask QUESTION",
            err=True,
        )
        return
    from assay.console.tables import print_runs

    print_runs(summaries, standings)


@runs.command("show")
@click.argument("run")
@click.option("--out", metavar="PATH", help="Write a report: .html, .md or .json by its ending.")
@click.option("--trace", is_flag=True, help="The whole story, not the result alone.")
@click.option("--jsonl", is_flag=True, help='Every event as a line of JSON: {"seq", "at", "event"}.')
@store_option
def show(run: str, out: str | None, trace: bool, jsonl: bool, store_path: str | None) -> None:
    """Show a run: its result and figures, its whole story, or a report of it."""
    from assay.console.showing import show_run, show_ways, write_report

    with closing(open_runs(store_path)) as store:
        run_id = store.find(run)
        if jsonl:
            for record in store.records(run_id):
                click.echo(b'{"seq":%d,"at":%d,"event":%b}' % (record.seq, record.at, record.body))
            return
        if out is not None:
            click.echo(f"report: {write_report(store, run_id, Path(out))}", err=True)
            return
        show_run(store, run_id, trace=trace)
        show_ways(store, run_id)


def _going_on(command: Any) -> Any:
    """Give a command the options of a run that goes on: its terms, and how it is shown."""
    for option in (
        store_option,
        click.option("-q", "--quiet", is_flag=True, help="No progress on standard error."),
        click.option("--out", metavar="PATH", help="Write a report: .html, .md or .json by its ending."),
        terms_options,
    ):
        command = option(command)
    return command


def _shown(
    run: str,
    go_on: Callable[[str, RunStore, OutputOptions], Outcome],
    *,
    out: str | None,
    quiet: bool,
    store_path: str | None,
) -> int:
    from assay.console.showing import OutputOptions, present

    with closing(open_runs(store_path)) as store:
        output = OutputOptions(out=out, quiet=quiet)
        return present(go_on(store.find(run), store, output), store, output)


@runs.command("resume")
@click.argument("run")
@_going_on
def resume(run: str, terms: Terms, **shown: Any) -> int:
    """Go on with a run that was interrupted, stopped or failed. No answer it has is paid for again.

    Models and bounds are those in force, unless given; what is given holds from now on. A cap holds for the whole
    run, what it has spent included.
    """
    from assay.console.running import resume_run

    return _shown(run, lambda run_id, store, output: resume_run(run_id, store, terms, output), **shown)


@runs.command("replay")
@click.argument("run")
@click.option(
    "--speed", type=click.FloatRange(0), default=0, help="1 is the recorded pace, 2 twice as fast, 0 no waiting."
)
@click.option("-q", "--quiet", is_flag=True, help="No progress on standard error.")
@store_option
def replay(run: str, speed: float, quiet: bool, store_path: str | None) -> int:
    """Run a recorded run again through the engine, answered by its recording, and compare the results.

    No model is asked and nothing is stored. A run that failed and fails again in the same way is as recorded.
    Exit code 1 where the result differs, 5 where the engine now asks what the recording has no answer to.
    """
    from assay.console.running import replay_run

    with closing(open_runs(store_path)) as store:
        run_id = store.find(run)
        try:
            return replay_run(store, run_id, speed, quiet=quiet)
        except LlmRuntimeError as error:
            if type(error).__name__ != _recorded_error(store, run_id):
                raise
            click.echo(f"run {run_id}: replayed, and it failed in the same way as recorded: {error}")
            return 0


def _recorded_error(store: RunStore, run_id: str) -> str:
    """Return the class of the error that ended a run; empty where none did."""
    from llm_runtime.events import RunFinished

    ends = [event for _, event in store.events(run_id) if isinstance(event, RunFinished)]
    return ends[-1].error if ends else ""


@runs.command("fork")
@click.argument("run")
@click.option(
    "--at", "at", type=click.IntRange(0), required=True, help='Share the answers of events 1 to AT, a "seq".'
)
@click.option("--say", metavar="TEXT", default="", help="Tell everybody this from there on.")
@_going_on
def fork(run: str, at: int, say: str, terms: Terms, **shown: Any) -> int:
    """Make a new run that shares a run's answers up to an event and asks anew from there.

    Events are counted by the "seq" of each line of: assay runs show RUN --jsonl.
    """
    from assay.console.running import fork_run

    return _shown(run, lambda run_id, store, output: fork_run(run_id, at, store, terms, output, say=say), **shown)


@runs.command("verify")
@click.argument("run", required=False)
@click.option("--all", "all_runs", is_flag=True, help="Every run of the store, and heads without one.")
@click.option(
    "--key",
    "keys",
    multiple=True,
    metavar="KEY",
    help="Public key that has to have signed: 64 hex digits, or a file.",
)
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
@store_option
def verify_run(
    run: str | None, all_runs: bool, keys: tuple[str, ...], as_json: bool, store_path: str | None
) -> int:
    """Check a run's log against its hash chain and its signed head; or an exported run, by its file.

    Exit code 1 where a log was changed, or lost its end, which are told apart. Where neither is so, and only this
    store's signature is missing, because the run was cut off, is being written, or was imported from elsewhere, a
    note says so, and it is 0. With --key, a run that has ended and that none of the keys signed is 1 as well.
    Of an exported run your own store's key counts where no other is named.
    """
    from assay.console import verifying

    if (run is None) != all_runs:
        raise click.UsageError("name a run, an exported file, or --all")
    trusted = verifying.trusted_keys(keys)
    # A run's id has neither dot nor slash.
    if run and ("." in run or "/" in run):
        own = [] if trusted else verifying.own_keys(store_path)
        return verifying.verify_file(Path(run), trusted, own=own, as_json=as_json)
    with closing(open_runs(store_path)) as store:
        if run is None:
            return verifying.verify_all(store, trusted, as_json=as_json)
        return verifying.verify_run(store, store.find(run), trusted, as_json=as_json)


@runs.command("recover")
@click.argument("run")
@store_option
def recover(run: str, store_path: str | None) -> None:
    """Accept that a run lost its end, by a power cut or in a restored copy, so that it can go on from what is left.

    Its log says so from then on. A run whose log was changed is not recovered.
    """
    with closing(open_runs(store_path)) as store:
        run_id = store.find(run)
        lost = store.recover(run_id)
        click.echo(
            f"run {run_id}: {lost.length} records are left, {lost.lost} were lost; "
            f"go on with: assay runs resume {run_id}"
        )


@runs.command("export")
@click.argument("run")
@click.argument("path", required=False, metavar="[PATH]")
@store_option
def export(run: str, path: str | None, store_path: str | None) -> None:
    """Write a run's log as JSON lines, with its signed head; to PATH, or to standard output."""
    from llm_runtime.store.transfer import export_run

    with closing(open_runs(store_path)) as store:
        run_id = store.find(run)
        if path is None or path == "-":
            with click.open_file("-", "wb") as file:
                export_run(store, run_id, cast("BinaryIO", file))
            return
        if Path(path).is_dir():
            raise ConfigurationError(f"{path} is a folder; name a file in it")
        try:
            with click.open_file(path, "wb", atomic=True) as file:
                export_run(store, run_id, cast("BinaryIO", file))
        except OSError as fault:
            raise ConfigurationError(f"{path} cannot be written: {fault.strerror}; name another place") from None


@runs.command("import")
@click.argument("path")
@click.option("--as", "new_id", metavar="ID", help="Take it under another id.")
@click.option("--trust", is_flag=True, help="Sign it as this store's own although another key signed it.")
@store_option
def import_(path: str, new_id: str | None, trust: bool, store_path: str | None) -> None:
    """Take a run from a file that `assay runs export` wrote; - is standard input. All of it, or nothing.

    A run that another key signed stays signed by that key alone, which `assay runs verify` then says.
    """
    from llm_runtime.store.transfer import import_run

    with closing(open_runs(store_path)) as store:
        try:
            with click.open_file(path, "rb") as file:
                run_id = import_run(store, cast("BinaryIO", file), as_id=new_id, trust=trust)
        except OSError as fault:
            raise ConfigurationError(f"{path} cannot be read: {fault.strerror}; name an exported run") from None
        click.echo(f"imported run {run_id}", err=True)


@runs.command("tag")
@click.argument("run")
@click.argument("tags", nargs=-1, metavar="[TAG]...")
@click.option("--remove", multiple=True, metavar="TAG", help="Take this tag off.")
@store_option
def tag(run: str, tags: tuple[str, ...], remove: tuple[str, ...], store_path: str | None) -> None:
    """Put tags on a run, such as those that `assay store prune --keep TAG` spares; and show what it has."""
    from llm_runtime.store.upkeep import set_tags, tags_of

    with closing(open_runs(store_path)) as store:
        run_id = store.find(run)
        set_tags(store, run_id, tags, remove)
        click.echo(f"run {run_id}: {', '.join(tags_of(store, run_id)) or 'no tags'}")


@runs.command("delete")
@click.argument("run")
@click.confirmation_option(prompt="Delete this run for good?")
@store_option
def delete(run: str, store_path: str | None) -> None:
    """Delete a run and its signed head."""
    with closing(open_runs(store_path)) as store:
        run_id = store.find(run)
        store.delete(run_id)
        click.echo(f"deleted run {run_id}", err=True)
