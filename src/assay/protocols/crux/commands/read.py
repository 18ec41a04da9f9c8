"""`assay debate cards` and `export`: a stored debate, read again."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from assay.console.options import open_runs, store_option
from llm_runtime.errors import ConfigurationError

if TYPE_CHECKING:
    from crux.compare import Comparison

_FORMATS = ("json", "md", "argdown", "aif", "csv", "html", "graphml", "mermaid", "kialo")


@click.command()
@click.argument("run_id", metavar="RUN")
@click.option("--json", "as_json", is_flag=True, help="Print the cards as JSON, under the specification's names.")
@store_option
def cards(run_id: str, as_json: bool, store_path: str | None) -> int:
    """Print the crux cards of a debate: question, both sides, and what would change their minds."""
    import json

    from assay.protocols.crux.commands.run import cards_text
    from assay.protocols.crux.report import result_of
    from assay.registry import story_of
    from assay.report.clean import clean
    from assay.report.terminal import print_story

    store = open_runs(store_path)
    try:
        run_id = store.find(run_id)
        if as_json:
            data = [card.model_dump(mode="json") for card in result_of(store, run_id).cards]
            click.echo(json.dumps(data, indent=1, ensure_ascii=False))
        elif sys.stdout.isatty():
            print_story(story_of(store.records(run_id)), sys.stdout)
        else:
            click.echo(clean(cards_text(store, run_id)))
        return 0
    finally:
        store.close()


@click.command()
@click.argument("run_id", metavar="RUN")
@click.option("--format", "form", type=click.Choice(_FORMATS), default="json", show_default=True)
@click.option("--out", metavar="PATH", help="Where to write it [default: standard output].")
@store_option
def export(run_id: str, form: str, out: str | None, store_path: str | None) -> int:
    """Write a debate, or a comparison, in a form that other programs read.

    json is the whole of it; csv a debate's tracked stances, or a comparison's claims with their sentences; argdown
    and aif are argument maps; graphml, mermaid and kialo are a comparison's claim books; html is the report.
    """

    text = _exported(store_path, run_id, form)
    if out is None:
        click.echo(text, nl=False)
    else:
        _write(Path(out), text)
    return 0


def _write(path: Path, text: str) -> None:
    from assay.report.places import check_place, write_whole

    check_place(path)
    write_whole(path, text)
    click.echo(f"written: {path}", err=True)


def _exported(store_path: str | None, run_id: str, form: str) -> str:
    from assay.protocols.crux.report import result_of
    from assay.protocols.crux.report.comparison import comparison_of
    from assay.registry import story_of
    from assay.report.html import story_html
    from crux import exports

    store = open_runs(store_path)
    try:
        run_id = store.find(run_id)
        if form == "html":
            return story_html(story_of(store.records(run_id)))
        if compared := comparison_of(store, run_id):
            return _compared(compared, form)
        result = result_of(store, run_id)
    finally:
        store.close()
    if form not in ("json", "md", "argdown", "aif", "csv"):
        raise ConfigurationError(f"--format {form} is for a comparison; see: assay debate compare --help")
    forms = {
        "json": exports.to_json,
        "md": exports.to_markdown,
        "argdown": exports.to_argdown,
        "aif": exports.to_aif,
        "csv": exports.stances_csv,
    }
    text = forms[form](result)
    return text if text.endswith("\n") else f"{text}\n"


def _compared(found: Comparison, form: str) -> str:
    from assay.protocols.crux.report.comparison import comparison_story
    from assay.report.markdown import story_markdown
    from crux import exports

    forms: dict[str, Callable[[Comparison], str]] = {
        "json": lambda one: one.model_dump_json(indent=1) + "\n",
        "md": lambda one: story_markdown(comparison_story(one)),
        "argdown": exports.claims_argdown,
        "aif": exports.claims_aif,
        "csv": exports.claims_csv,
        "graphml": exports.to_graphml,
        "mermaid": exports.to_mermaid,
        "kialo": exports.to_kialo,
    }
    return forms[form](found)
