"""`assay store`: the store is copied, checked, pruned, made smaller and looked at, all while it is in use."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import click

from assay.cli.doctor import Remark, show
from assay.console.declared import commands
from assay.console.lazy import ToldGroup
from assay.console.options import open_runs, with_store
from assay.report.units import count_noun
from llm_runtime.errors import ConfigurationError, LlmRuntimeError, StoreBusy, StoreDamaged

if TYPE_CHECKING:
    from llm_runtime.store import RunStore


_UNITS = {"h": 3_600_000, "d": 86_400_000, "w": 7 * 86_400_000}


@click.group(cls=ToldGroup)
def store() -> None:
    """Look after the run store: backup, verify, prune, compact, doctor. It may be in use meanwhile."""


_command = commands(store.command, __package__ or "", "store.toml")


@_command("backup")
@with_store
def backup(store: RunStore, target: str) -> None:
    """Copy the whole store, its batches included, to TARGET: a file that is not there yet, or postgresql://...

    Runs under way are copied as far as they have come. To restore a copy, name it with --store, or back it up to
    where it is wanted. Into PostgreSQL go the runs that it has not, without batches. The signing key is not copied.
    """
    from llm_runtime.store import SqliteStore, open_store
    from llm_runtime.store.upkeep import copy_runs

    into_file = "://" not in target
    if isinstance(store, SqliteStore) and into_file:
        return _copy_whole(store.path, target)
    if into_file and Path(target).exists():
        raise ConfigurationError(f"{target} is there already; name a file that is not there")
    if getattr(store, "url", "") == target:
        raise ConfigurationError("the copy would be the store itself; name another place")
    # A file takes its name when it is whole.
    place = str(Path(target).with_name(f".writing-{Path(target).name}")) if into_file else target
    with closing(open_store(place)) as copy:
        count = sum(1 for _ in copy_runs(store, copy))
    if into_file:
        _copy_batches(store, place, target)
        Path(place).rename(target)
    click.echo(f"copied {count_noun(count, 'run')}", err=True)


def _copy_whole(source: Path, target: str) -> None:
    from llm_runtime.store import SqliteStore

    _copy_files(source, Path(target))
    with closing(SqliteStore(Path(target))) as copy:
        faults, count = copy.faults(), sum(1 for _ in copy.heads.runs())
    if faults:
        raise StoreDamaged(f"the store is damaged, and so is its copy {target} ({faults[0]}); keep an older one")
    click.echo(f"{target}: a copy of the whole store, {count_noun(count, 'signed run')}", err=True)


def _copy_batches(source: RunStore, place: str, target: str) -> None:
    """Copy the batches of a PostgreSQL into the file beside a store at ``place``, which becomes ``target``."""
    from assay.batch.batches import batches_beside, open_batches
    from assay.batch.database import batches_path
    from llm_runtime.store.upkeep import copy_tables

    if (batches := batches_beside(source)) is None:
        return
    beside = batches_path(Path(place))
    beside.unlink(missing_ok=True)
    with closing(batches), closing(open_batches(place)) as there:
        query = "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE '%_migrations'"
        copy_tables(batches, there, [str(row[0]) for row in there.execute(query)])
    beside.rename(batches_path(Path(target)))


def _copy_files(source: Path, target: Path) -> None:
    from assay.batch.database import batches_path
    from llm_runtime.store.upkeep import copy_file

    beside = batches_path(source)
    if beside.exists() and batches_path(target).exists():
        raise ConfigurationError(f"{batches_path(target)} is there already; name another file")
    copy_file(source, target)
    if beside.exists():
        copy_file(beside, batches_path(target))


@_command("verify")
@with_store
def verify(store: RunStore, all_runs: bool, keys: tuple[str, ...], as_json: bool) -> int:
    """Check the store's file and, with --all, every run. Exit code 1 where something is damaged or changed."""
    from assay.console.verifying import trusted_keys, verify_all

    trusted = trusted_keys(keys)
    if faults := store.faults():
        click.echo("\n".join(f"damaged: {fault}" for fault in faults))
        return 1
    if all_runs:
        return verify_all(store, trusted, as_json=as_json)
    click.echo('{"ok": true}' if as_json else "the file is sound; each run is checked with --all")
    return 0


@_command("prune")
@with_store
def prune(store: RunStore, older: str, keep: tuple[str, ...], dry_run: bool, yes: bool) -> None:
    """Delete old runs for good, and give their room back. Runs under way and those of open batches stay."""
    from llm_runtime.clock import now_ms
    from llm_runtime.store.upkeep import old_runs, remove

    before = now_ms() - _age(older)
    runs = old_runs(store, before, keep, _needed(store))
    running = sum(run.updated_at < before for run in store.runs(state="running", limit=100_000))
    if running:
        click.echo(f"{running} runs are that old and under way; they stay", err=True)
    if dry_run:
        for run in runs:
            click.echo(f"{run.run_id}  {run.title}")
    if dry_run or not runs:
        click.echo(f"{count_noun(len(runs), 'run')} would go" if dry_run else "no run is that old", err=True)
        return
    if not yes:
        click.confirm(f"Delete {count_noun(len(runs), 'run')} for good?", abort=True, err=True)
    gone, held = remove(store, runs)
    for run_id in held:
        click.echo(f"run {run_id} is under way; it stays", err=True)
    store.give_back()
    click.echo(f"deleted {count_noun(len(gone), 'run')}", err=True)


def _age(older: str) -> int:
    """Return the milliseconds that ``--older`` means."""
    match = re.fullmatch(r"([0-9]{1,5})([hdw])", older)
    if match is None:
        raise click.BadParameter("write a number and h, d or w, such as 90d", param_hint="--older")
    return int(match[1]) * _UNITS[match[2]]


def _needed(opened: RunStore) -> tuple[str, ...]:
    """Return what the ids of runs begin with that open batches may go on with."""
    from assay.batch.batches import batches_beside

    if (batches := batches_beside(opened)) is None:
        return ()
    with closing(batches):
        query = "SELECT tag FROM batches WHERE batch_id IN (SELECT batch_id FROM jobs WHERE due_at IS NOT NULL)"
        return tuple(f"{tag}-" for (tag,) in batches.execute(query))


@store.command("compact")
@with_store
def compact(store: RunStore) -> None:
    """Store what older versions wrote as today's would, and give free room back to the disk."""
    from llm_runtime.store.upkeep import every_run

    before = store.size()
    for run in every_run(store):
        try:
            store.repack(run.run_id)
        except StoreBusy:
            click.echo(f"run {run.run_id} is under way; it is left as it is", err=True)
    store.give_back()
    click.echo(f"{before:,} bytes before, {store.size():,} now")


@_command("doctor")
def doctor(as_json: bool, store_path: str | None) -> int:
    """Say how the store stands, and what to do about it. Exit code 1 where something is at fault."""
    try:
        with closing(open_runs(store_path, made=False)) as opened:
            checks = [*_file(opened), *_runs(opened), *_signatures(opened)]
    except LlmRuntimeError as error:
        checks = [Remark("fault", "store", str(error))]
    return show(checks, as_json=as_json)


def _file(opened: RunStore) -> Iterator[Remark]:
    import shutil

    from llm_runtime.store import SqliteStore

    size = opened.size()
    if isinstance(opened, SqliteStore):
        free = shutil.disk_usage(opened.path.parent).free
        yield Remark("ok", "store", f"{opened.path}, {size:,} bytes")
        yield Remark("ok" if free > 2 * size + 10**8 else "note", "room", f"{free:,} bytes are free on its disk")
    else:
        yield Remark("ok", "store", f"in PostgreSQL, {size:,} bytes")
    yield Remark("ok", "durability", opened.durability)
    for fault in opened.faults():
        yield Remark("fault", "damaged", f"{fault}; restore a backup: assay store backup FILE from the copy")


def _runs(opened: RunStore) -> Iterator[Remark]:
    from llm_runtime.store.upkeep import every_run

    states = Counter(run.state for run in every_run(opened))
    yield Remark("ok", "runs", ", ".join(f"{count} {state}" for state, count in sorted(states.items())) or "none yet")
    gone = opened.reader.execute("SELECT run_id FROM heads WHERE run_id NOT IN (SELECT run_id FROM runs) LIMIT 1")
    for (run_id,) in gone:
        yield Remark("fault", "lost", f"run {run_id} is gone, and its head is there; see: assay runs verify --all")


def _signatures(opened: RunStore) -> Iterator[Remark]:
    from llm_runtime.store.signing import KeySigner

    heads = opened.heads
    query = "SELECT public_key, count(*) FROM heads GROUP BY public_key ORDER BY count(*) DESC"
    signed = [(bytes(key).hex(), count) for key, count in opened.reader.execute(query)]
    for key, count in signed:
        yield Remark("ok", "signed by", f"{key} ({count_noun(count, 'run')})")
    if len(signed) > 1:
        yield Remark("note", "signers", "name one for all: ASSAY_SIGNING_KEY, or verify with all: --key, --key, ...")
    if heads.signer is not heads.own:
        yield Remark("ok", "signer", f"a {'key' if isinstance(heads.signer, KeySigner) else 'program'} of yours")
    else:
        where = f"{heads.own.key_file}{'' if heads.own.exists else ', made at the first signature'}"
        yield Remark("note", "signer", f"{where}; let it lie elsewhere where others write the store")
