"""What the verification of logs says to a person: of a run, of all runs, of an exported run without any store."""

from __future__ import annotations

import json
import tempfile
from collections import Counter
from collections.abc import Collection, Iterator
from contextlib import closing, suppress
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, cast

import click

from llm_runtime.errors import ConfigurationError, RunNotFound
from llm_runtime.files import saying
from llm_runtime.rewording import instead

if TYPE_CHECKING:
    from llm_runtime.store import RunStore
    from llm_runtime.store.verify import Verification


def trusted_keys(keys: Collection[str]) -> list[bytes]:
    """Return public keys: each is 64 hex digits, or a file that holds them.

    Raises:
        ConfigurationError: one is neither.
    """
    public: list[bytes] = []
    for key in keys:
        refused = ConfigurationError(
            f"{ascii(key)[1:-1][:80]} is neither a public key of 64 hex digits nor a file that holds one; "
            "see: assay store doctor"
        )
        with instead(refused, OSError, ValueError):
            public.append(bytes.fromhex(key if len(key) == 64 else Path(key).read_text(encoding="ascii").strip()))
            if len(public[-1]) != 32:
                raise ValueError
    return public


def own_keys(place: str | None) -> list[bytes]:
    """Return the public keys that sign the runs of the store at ``place``, or of the own one, if any."""
    from assay.console.options import open_runs
    from llm_runtime.settings import data_dir

    if not place and not (data_dir() / "runs.db").exists():
        return []
    with closing(open_runs(place, made=False)) as store:
        return list(store.heads.keys())


def verify_file(path: Path, keys: Collection[bytes], *, own: Collection[bytes] = (), as_json: bool) -> int:
    """Check an exported run against the chain and the head that it carries, and print what was found.

    Args:
        path: the file.
        keys: the public keys that have to have signed it.
        own: those of the user, which count where no others are named.
        as_json: print one JSON object.

    Raises:
        ConfigurationError: the file cannot be read.
        StoreDamaged: it is no exported run, or was changed since.
    """
    from llm_runtime.store import SqliteStore
    from llm_runtime.store.transfer import import_run

    with tempfile.TemporaryDirectory() as folder, closing(SqliteStore(Path(folder) / "runs.db")) as store:
        with saying(f"{path} cannot be read", then="; name an exported run"), path.open("rb") as file:
            run_id = import_run(store, cast("BinaryIO", file))
        return verify_run(store, run_id, keys, own=own, as_json=as_json)


def verify_run(
    store: RunStore, run_id: str, keys: Collection[bytes], *, own: Collection[bytes] = (), as_json: bool
) -> int:
    """Check a run, print what was found, and return the exit code; where no key is named, ``own`` count."""
    from llm_runtime.store.verify import verify

    verification = verify(store, run_id, keys or own)
    length = verification.length
    if as_json:
        click.echo(json.dumps({"ok": verification.ok, "intact": verification.intact, **asdict(verification)}, indent=1))
    elif verification.ok:
        click.echo(f"run {run_id}: {length} records, all as they were written and signed")
    else:
        click.echo(f"run {run_id}: {length} records, {verification.anchored} of them signed for")
        for finding in verification.findings:
            click.echo(f"  {finding}")
        click.echo(_in_words(verification))
    return int(_fails(store, verification, keys))


def verify_all(store: RunStore, keys: Collection[bytes], *, as_json: bool) -> int:
    """Check every run of a store, print those that are not well, and return the exit code."""
    kinds: Counter[str] = Counter()
    lines: list[str] = []
    signers: set[str] = set()
    fails = False
    for verification in _all(store, keys):
        kind = _kind(verification)
        kinds[kind] += 1
        signers |= {verification.other_key} - {""}
        if _fails(store, verification, keys):
            fails = True
            lines.append(f"run {verification.run_id}: {kind}: {verification.findings[0]}")
    if as_json:
        data = {"ok": not fails, "runs": kinds, "not_well": lines, "other_keys": sorted(signers)}
        click.echo(json.dumps(data, indent=1))
    else:
        words = ", ".join(f"{count} {kind}" for kind, count in sorted(kinds.items())) or "there are none"
        click.echo("\n".join([*lines, f"{kinds.total()} runs: {words}"]))
        for key in sorted(signers):
            click.echo(f"another key signed some, {key}; to have its signatures count: --key {key}")
    return int(fails)


def _all(store: RunStore, keys: Collection[bytes]) -> Iterator[Verification]:
    from llm_runtime.store.verify import verify

    before: str | None = None
    heads = set(store.heads.runs())
    while page := store.runs(limit=256, before=before):
        before = page[-1].run_id
        for run in page:
            heads.discard(run.run_id)
            with suppress(RunNotFound):  # deleted meanwhile
                yield verify(store, run.run_id, keys)
    for run_id in sorted(heads):
        with suppress(RunNotFound):
            yield verify(store, run_id, keys)


def _fails(store: RunStore, verification: Verification, keys: Collection[bytes]) -> bool:
    if verification.ok or not verification.intact or not keys:
        return not verification.intact
    # What is under way is not signed yet, whoever is to sign it.
    return store.summary(verification.run_id).state not in ("running", "interrupted")


def _kind(verification: Verification) -> str:
    if verification.ok:
        return "signed"
    if verification.lost:
        return "lost"
    if not verification.intact:
        return "changed"
    return "signed by another key" if verification.other_key else "not signed yet"


def _in_words(verification: Verification) -> str:
    match _kind(verification):
        case "lost" if verification.length:
            return f"nobody changed it; to go on from what is left: assay runs recover {verification.run_id}"
        case "lost":
            return "nothing is left of it; restore it from a copy"
        case "changed":
            return "the log was changed"
        case "signed by another key":
            return f"nothing contradicts the log; whether key {verification.other_key} is to be trusted is up to you"
        case _:
            return "nothing contradicts the log; its end is signed when the run ends or is resumed"
