"""`assay trial bundle`, `publish`, and `verify` of a bundle: trials that others can check without us."""

from __future__ import annotations

import json
import shlex
from dataclasses import asdict
from datetime import UTC, datetime
from functools import partial
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

import click

from assay.console.declared import declares
from assay.protocols.ai_crucible.report.words import counted
from assay.protocols.ai_crucible.trials import log_dir_option, need_inspect, workshop
from assay.report.units import count_noun
from llm_runtime.errors import ConfigurationError
from llm_runtime.installing import how_to_install

if TYPE_CHECKING:
    from ai_crucible.bundle import BundleVerification
    from ai_crucible.figures import TrialFigures
    from ai_crucible.witness import Stamp

_declares = declares(__package__ or "", "options.toml")

_BUNDLE = "trial.assay"


@click.command("bundle")
@_declares("bundle")
@log_dir_option
def bundle_(trials: tuple[str, ...], out: str, witness: str, log_dir: str | None) -> int:
    """Write each TRIAL into one file that anybody can verify: the whole ledger, its signed head, and their logs.

    Whoever verifies it needs your public key, which is printed; publish it where others know that it is yours.
    """
    from ai_crucible.bundle import make_bundle
    from ai_crucible.witness import ask_witness

    shop = workshop(log_dir)
    ask = partial(ask_witness, witness) if witness else None
    path = make_bundle(shop, list(dict.fromkeys(trials)), _place(out), ask)
    click.echo(f"bundle: {path}", err=True)
    click.echo(_key_line(shop.ledger.signer.public_key.hex(), path), err=True)
    return 0


@click.command("publish")
@_declares("publish")
@log_dir_option
def publish_(trials: tuple[str, ...], out: str, title: str, log_dir: str | None) -> int:
    """Write a folder for any web server: the report, the bundle, a page that verifies it, and Inspect's viewer."""
    from ai_crucible.bundle import make_bundle
    from assay.protocols.ai_crucible.report import read_trials, trials_story
    from assay.report.places import write_report, write_whole

    need_inspect("publishing trials")
    folder, shop, names = Path(out), workshop(log_dir), list(dict.fromkeys(trials))
    if folder.exists():
        raise ConfigurationError(f"{folder} is there already; name a new folder")
    records = read_trials(shop, names)
    _place(out)
    folder.mkdir()
    bundle = make_bundle(shop, names, folder / _BUNDLE)
    write_report(folder / "index.html", lambda: trials_story(records, title), records.data)
    page = resources.files("assay.protocols.ai_crucible").joinpath("verify.html").read_text(encoding="utf-8")
    write_whole(folder / "verify.html", page)
    _viewer(bundle, folder / "viewer")
    click.echo(f"published: {folder}/index.html, verify.html, {_BUNDLE}, viewer/", err=True)
    click.echo(_key_line(shop.ledger.signer.public_key.hex(), bundle), err=True)
    return 0


def _viewer(bundle: Path, target: Path) -> None:
    """Write Inspect's own viewer with the logs of a bundle, and no others that lie beside them."""
    import tempfile
    import zipfile

    from inspect_ai.log import bundle_log_dir

    with tempfile.TemporaryDirectory() as folder, zipfile.ZipFile(bundle) as archive:
        archive.extractall(folder, [name for name in archive.namelist() if name.startswith("logs/")])
        bundle_log_dir(log_dir=f"{folder}/logs", output_dir=str(target))


def _place(out: str) -> Path:
    path = Path(out)
    if not path.absolute().parent.is_dir():
        raise ConfigurationError(f"{path.absolute().parent} is no folder; make it first")
    return path


def _key_line(key: str, bundle: Path) -> str:
    return f"key: {key}; others verify with: assay trial verify {shlex.quote(bundle.name)} --key {key}"


def verify_file(path: Path, key: bytes, as_json: bool, authorities: str = "") -> int:
    """Check a bundle, print what it proves and what is wrong; return the exit code.

    Args:
        path: the file.
        key: that must have signed it; empty for any.
        as_json: print one JSON object.
        authorities: a file of certificates to which its time stamp must lead; empty for any stamp, or none.

    Raises:
        ConfigurationError: there is no such file.
        MissingExtraError: authorities are named, and the package that reads time stamps is not installed.
    """
    from ai_crucible.bundle import verify_bundle
    from ai_crucible.witness import need_witness, read_authorities

    if authorities:
        need_witness()
    result = verify_bundle(path, key, read_authorities(authorities) if authorities else ())
    if as_json:
        findings = [str(finding) for finding in result.findings]
        click.echo(json.dumps({"ok": result.ok, **asdict(result), "findings": findings}, ensure_ascii=False))
    else:
        for line in _lines(result, named=bool(key)):
            click.echo(line)
    return 0 if result.ok else 1


def figures_line(trial: TrialFigures) -> str:
    """Return what a ledger says of a trial, in a line."""
    figures = counted(trial.passed, trial.failed, trial.died)
    planned = f"{trial.k} planned at each of {count_noun(trial.puzzles, 'puzzle')}"
    more = [f"self-reported at {count_noun(trial.self_reported, 'puzzle')}"] if trial.self_reported else []
    more += [f"drawn from the nonce {json.dumps(trial.nonce)}"] if trial.nonce else []
    more += [f"{trial.without} without a verdict"] if trial.without else []
    more += [] if trial.finished else ["never finished"]
    more += [] if trial.here else ["its log is not in here"]
    return f"{trial.trial}: {trial.model}, {trial.arm}: {'; '.join([f'{figures}, {planned}', *more])}"


def _stamp_line(stamp: Stamp | None) -> str:
    if stamp is None:
        return "a time stamp lies in it, which was not read; " + how_to_install("witness")
    whose = "" if stamp.trusted else "; nobody has said whom to trust: give the authority's certificate (--witness-ca)"
    return f"time-stamped {stamp.at} by {stamp.by or 'an authority that does not say its name'}{whose}"


def _lines(result: BundleVerification, *, named: bool) -> list[str]:
    if not result.ok:
        return [str(finding) for finding in result.findings]
    at = datetime.fromtimestamp(result.signed_at / 1000, UTC)
    lines = [f"{result.events} events, as of {at:%Y-%m-%d %H:%M} UTC, signed by {result.key}"]
    for trial in result.trials:
        lines.append(figures_line(trial))
        lines += [f"  rests on {name}: {digest}" for name, digest in trial.rests_on.items() if trial.here]
    if result.stamped:
        lines.append(_stamp_line(result.stamp))
    whose = "" if named else ", but nobody has said whose key it is: give the one that the signer published (--key)"
    return [*lines, f"everything in it is as it was signed{whose}"]
