"""`assay runs`: everything that was ever run, kept, looked at again, gone on with."""

from __future__ import annotations

from contextlib import closing
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, cast

import click

from assay.console.declared import commands, declares
from assay.console.lazy import ToldGroup
from assay.console.options import open_runs, terms_options, with_run, with_store
from llm_runtime.errors import ConfigurationError, LlmRuntimeError
from llm_runtime.files import saying

if TYPE_CHECKING:
    from assay.terms import Terms
    from llm_runtime.store import RunStore


@click.group(cls=ToldGroup)
def runs() -> None:
    """List, show, resume, replay, fork, export, import, verify and recover runs.

    RUN is a run's id, the beginning of one, or "latest".
    """


_declares = declares(__package__ or "", "runs.toml")
_command = commands(runs.command, __package__ or "", "runs.toml")


@_command("list")
@with_store
def list_runs(store: RunStore, protocol: str | None, search: str | None, state: Any, limit: int, as_json: bool) -> None:
    """List runs, newest first."""
    from assay.launch.glimpses import glimpses
    from assay.registry import known

    kind = known(protocol or "")
    summaries = store.runs(protocol=kind.names if kind else protocol, search=search, state=state, limit=limit)
    # Whoever wants data of thousands waits for no log.
    standings = {} if as_json else glimpses(store, summaries)
    if as_json:
        import json
        from dataclasses import asdict

        click.echo(json.dumps({"runs": [asdict(summary) for summary in summaries]}, indent=1))
        return
    if not summaries:
        narrowed = protocol or search or state
        none = "no run is like that; leave out --protocol, --search or --state to see them all"
        click.echo(none if narrowed else "no runs yet; make one with: assay demo, or assay ask QUESTION", err=True)
        return
    from assay.console.tables import print_runs

    print_runs(summaries, standings)


@_command("show")
@with_run
def show(store: RunStore, run_id: str, out: str | None, trace: bool, jsonl: bool) -> None:
    """Show a run: its result and figures, its whole story, or a report of it."""
    from assay.console.showing import show_run, show_ways, write_report

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
    return terms_options(_declares("going_on")(with_run(command)))


@_command("resume")
@_going_on
def resume(store: RunStore, run_id: str, terms: Terms, **shown: Any) -> int:
    """Go on with a run that was interrupted, stopped or failed. No answer it has is paid for again.

    Models and bounds are those in force, unless given; what is given holds from now on. A cap holds for the whole
    run, what it has spent included.
    """
    from assay.console.running import resume_run
    from assay.console.showing import OutputOptions, present

    output = OutputOptions(**shown)
    return present(resume_run(run_id, store, terms, output), store, output)


@_command("replay")
@with_run
def replay(store: RunStore, run_id: str, speed: float, quiet: bool) -> int:
    """Run a recorded run again through the engine, answered by its recording, and compare the results.

    No model is asked and nothing is stored. A run that failed and fails again in the same way is as recorded.
    Exit code 1 where the result differs, 5 where the engine now asks what the recording has no answer to.
    """
    from assay.console.running import replay_run

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


@_command("fork")
@_going_on
def fork(store: RunStore, run_id: str, at: int, say: str, terms: Terms, **shown: Any) -> int:
    """Make a new run that shares a run's answers up to an event and asks anew from there.

    Events are counted by the "seq" of each line of: assay runs show RUN --jsonl.
    """
    from assay.console.running import fork_run
    from assay.console.showing import OutputOptions, present

    output = OutputOptions(**shown)
    return present(fork_run(run_id, at, store, terms, output, say=say), store, output)


@_command("verify")
def verify_run(run: str | None, all_runs: bool, keys: tuple[str, ...], as_json: bool, store_path: str | None) -> int:
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
    with closing(open_runs(store_path, made=False)) as store:
        if run is None:
            return verifying.verify_all(store, trusted, as_json=as_json)
        return verifying.verify_run(store, store.find(run), trusted, as_json=as_json)


@_command("recover")
@with_run
def recover(store: RunStore, run_id: str) -> None:
    """Accept that a run lost its end, by a power cut or in a restored copy, so that it can go on from what is left.

    Its log says so from then on. A run whose log was changed is not recovered.
    """
    lost = store.recover(run_id)
    click.echo(
        f"run {run_id}: {lost.length} records are left, {lost.lost} were lost; go on with: assay runs resume {run_id}"
    )


@_command("export")
@with_run
def export(store: RunStore, run_id: str, path: str | None) -> None:
    """Write a run's log as JSON lines, with its signed head; to PATH, or to standard output."""
    from llm_runtime.store.transfer import export_run

    if path is None or path == "-":
        with click.open_file("-", "wb") as file:
            export_run(store, run_id, cast("BinaryIO", file))
        return
    if Path(path).is_dir():
        raise ConfigurationError(f"{path} is a folder; name a file in it")
    refusal = saying(f"{path} cannot be written", then="; name another place")
    with refusal, click.open_file(path, "wb", atomic=True) as file:
        export_run(store, run_id, cast("BinaryIO", file))


@_command("import")
@partial(with_store, made=True)
def import_(store: RunStore, path: str, new_id: str | None, trust: bool) -> None:
    """Take a run from a file that `assay runs export` wrote; - is standard input. All of it, or nothing.

    A run that another key signed stays signed by that key alone, which `assay runs verify` then says.
    """
    from llm_runtime.store.transfer import import_run

    refusal = saying(f"{path} cannot be read", then="; name an exported run")
    with refusal, click.open_file(path, "rb") as file:
        run_id = import_run(store, cast("BinaryIO", file), as_id=new_id, trust=trust)
    click.echo(f"imported run {run_id}", err=True)


@_command("tag")
@with_run
def tag(store: RunStore, run_id: str, tags: tuple[str, ...], remove: tuple[str, ...]) -> None:
    """Put tags on a run, such as those that `assay store prune --keep TAG` spares; and show what it has."""
    from llm_runtime.store.upkeep import set_tags, tags_of

    set_tags(store, run_id, tags, remove)
    click.echo(f"run {run_id}: {', '.join(tags_of(store, run_id)) or 'no tags'}")


@_command("delete")
@click.confirmation_option(prompt="Delete this run for good?")
@with_run
def delete(store: RunStore, run_id: str) -> None:
    """Delete a run and its signed head."""
    store.delete(run_id)
    click.echo(f"deleted run {run_id}", err=True)
