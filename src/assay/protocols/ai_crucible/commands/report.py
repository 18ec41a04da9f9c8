"""`assay trial report` and `assay trial verify`: what was measured, and whether it is still what was signed."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from assay.console.declared import declares
from assay.protocols.ai_crucible.commands.bundling import figures_line, verify_file
from assay.protocols.ai_crucible.trials import log_dir_option, need_inspect, workshop
from llm_runtime.errors import ConfigurationError

if TYPE_CHECKING:
    from ai_crucible.attestation import Verification
    from ai_crucible.figures import TrialFigures

_declares = declares(__package__ or "", "options.toml")


@click.command("report")
@log_dir_option
@_declares("report")
def report_(trials: tuple[str, ...], log_dir: str | None, out: str, title: str) -> int:
    """Write the report on TRIAL, several of them side by side, or all.

    By model, by puzzle and by attempt, with intervals; where each attempt ended and which conditions of the gate
    failed; framings compared; each attempt followed from its prompt to the signed head.
    """
    from assay.protocols.ai_crucible.report import read_trials, trials_story
    from assay.report.places import check_report, write_report

    check_report(out)
    need_inspect("a report on trials")
    records = read_trials(workshop(log_dir), list(dict.fromkeys(trials)))
    click.echo(f"report: {write_report(Path(out), lambda: trials_story(records, title), records.data)}", err=True)
    return 0 if records.seal.verification.ok else 1


@click.command("verify")
@_declares("verify")
@log_dir_option
@click.option("--json", "as_json", is_flag=True, help="Print what was found as one JSON object.")
def verify_(file: str | None, keys: tuple[str, ...], witness_ca: str, log_dir: str | None, as_json: bool) -> int:
    """Check FILE, a bundle from anywhere, or your own ledger with every log: 0 if nothing was changed, else 1.

    Edits, deletions, insertions, reordering, truncation, emptying, a rewrite of the whole, and logs that nobody
    vouches for are all found. A bundle needs no configuration; without --key it is told whose key signed it, and
    not whether that is the right one.
    """
    from ai_crucible.figures import figures_of
    from assay.console.verifying import trusted_keys

    if file is None and (keys or witness_ca):
        option = "--key is the key" if keys else "--witness-ca is for the time stamp"
        raise ConfigurationError(f"{option} of a bundle; name the file too")
    if len(keys) > 1:
        raise ConfigurationError("--key is given twice; a bundle is signed with one key, so give the one you trust")
    if file is not None:
        return verify_file(Path(file), trusted_keys(keys)[0] if keys else b"", as_json, witness_ca)
    shop = workshop(log_dir)
    verification = shop.verify()
    known = shop.attested().values() if verification.ok else ()
    figures = [each for one in known if (each := figures_of(one, here=one.place(shop.folder) is not None))]
    if as_json:
        told = {"unfinished": [each.trial for each in figures if not each.finished], "trials": [*map(asdict, figures)]}
        click.echo(json.dumps({**verification.data(), **told}, ensure_ascii=False))
    else:
        click.echo("\n".join(_lines(verification, figures, shop.folder)))
    return 0 if verification.ok else 1


def _lines(found: Verification, figures: Sequence[TrialFigures], folder: Path) -> Iterable[str]:
    """Return what was found, a line each."""
    if not found.ok:
        return map(str, found.findings)
    if not found.length:
        return [f"there is no ledger in {folder}, and none was signed: no trial has been run"]
    return [*found.remarks, f"{found.length} events, every log and the signed head agree", *map(figures_line, figures)]
