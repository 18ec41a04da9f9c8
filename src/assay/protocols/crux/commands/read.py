"""`assay debate cards` and `export`: a stored debate, read again."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from assay.console.declared import commands
from assay.console.options import with_run
from assay.protocol import load
from llm_runtime.errors import ConfigurationError
from llm_runtime.toml import own_table

if TYPE_CHECKING:
    from llm_runtime.store import RunStore

_command = commands(click.command, __package__ or "", "options.toml")
_FORMS: dict[str, dict[str, str]] = own_table(__package__ or "", "exports.toml")


@_command("cards")
@with_run
def cards(store: RunStore, run_id: str, as_json: bool) -> int:
    """Print the crux cards of a debate: question, both sides, and what would change their minds."""
    import json

    from assay.protocols.crux.commands.run import cards_text
    from assay.protocols.crux.report import result_of
    from assay.registry import story_of
    from assay.report.clean import clean
    from assay.report.terminal import print_story

    if as_json:
        data = [card.model_dump(mode="json") for card in result_of(store, run_id).cards]
        click.echo(json.dumps(data, indent=1, ensure_ascii=False))
    elif sys.stdout.isatty():
        print_story(story_of(store.records(run_id), store.summary(run_id).state), sys.stdout)
    else:
        click.echo(clean(cards_text(store, run_id)))
    return 0


@_command("export")
@with_run
def export(store: RunStore, run_id: str, form: str, out: str | None) -> int:
    """Write a debate, a comparison or a division in a form that other programs read.

    json is the whole of it; csv a debate's tracked stances, or a comparison's claims with their sentences; argdown
    and aif are argument maps; graphml is a comparison's claim books; html is the report.
    """
    text = _exported(store, run_id, form)
    if out is None:
        click.echo(text, nl=False)
    else:
        write_out(Path(out), text)
    return 0


def write_out(path: Path, text: str) -> None:
    """Write a file, whole or not at all, and say so."""
    from assay.report.places import check_place, write_whole

    check_place(path)
    write_whole(path, text)
    click.echo(f"written: {path}", err=True)


def _exported(store: RunStore, run_id: str, form: str) -> str:
    from assay.protocols.crux.report import result_of
    from assay.protocols.crux.report.comparison import comparison_of
    from assay.registry import story_of
    from assay.report.places import story_text

    if form in ("html", "md"):
        return story_text(story_of(store.records(run_id), store.summary(run_id).state), f".{form}")
    compared = comparison_of(store, run_id)
    forms = _FORMS["comparison" if compared else "debate"]
    if form not in forms:
        raise ConfigurationError(f"--format {form} is for a comparison; see: assay debate compare --help")
    return load(forms[form])(compared or result_of(store, run_id))
