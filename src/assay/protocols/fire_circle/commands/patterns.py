"""`assay circle patterns`: the library of patterns that circles found."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from assay.console.declared import commands
from assay.console.lazy import ToldGroup
from llm_runtime.errors import ConfigurationError
from llm_runtime.files import saying

if TYPE_CHECKING:
    from fire_circle.reasoningbank import BankEntry

_WIDTH = 88


def library_path(path: str | None) -> Path:
    """Return the library of patterns, the one given or the user's own, in a folder that is there."""
    from assay.protocols.fire_circle import task

    library = task.library_path(path)
    library.parent.mkdir(parents=True, exist_ok=True)
    return library


@click.group(cls=ToldGroup)
def patterns() -> None:
    """List, search, export and import the patterns that circles found.

    Circles add to the library with --remember.
    """


_command = commands(patterns.command, __package__ or "", "options.toml")


@_command("list")
def list_(**options: Any) -> None:
    """List patterns, most agreed first."""
    _show(**options)


@_command("search")
def search(words: tuple[str, ...], **options: Any) -> None:
    """Find patterns whose description or quotes hold all WORDS."""
    _show(**options, search=" ".join(words))


@_command("export")
def export(path: str, library: str | None) -> None:
    """Write every pattern as a line of JSON to PATH, or to standard output."""
    from assay.report.places import write_whole
    from fire_circle import ReasoningBank

    with ReasoningBank(library_path(library)) as bank:
        lines = list(bank.export())
    if path == "-":
        for line in lines:
            click.echo(line)
        return
    write_whole(Path(path), "".join(f"{line}\n" for line in lines))
    click.echo(f"{len(lines)} patterns in {path}", err=True)


@_command("import")
def import_(path: str, library: str | None) -> None:
    """Take in what export wrote, all of it or nothing; - is standard input."""
    from fire_circle import ReasoningBank

    reading = saying(f"{path} cannot be read")
    try:
        with reading, click.open_file(path, encoding="utf-8") as lines, ReasoningBank(library_path(library)) as bank:
            new = bank.load(lines)
    except UnicodeDecodeError as fault:
        raise ConfigurationError(f"{path} is not UTF-8 near byte {fault.start}") from None
    click.echo(f"{new} new patterns", err=True)


def _show(library: str | None, as_json: bool, kind: str | None, attack: str | None, **query: Any) -> None:
    from fire_circle import ReasoningBank

    least = query.pop("agreement")
    with ReasoningBank(library_path(library)) as bank:
        entries = bank.query(pattern_type=kind, attack_id=attack, min_agreement=least, **query)
    for entry in entries:
        click.echo(entry.model_dump_json() if as_json else _line(entry))
    if not entries and not as_json:
        click.echo("no pattern fits; circles add to the library with --remember NAME", err=True)


def _line(entry: BankEntry) -> str:
    from assay.report.clean import one_line

    content = entry.content
    head = click.style(f"{content.agreement:>4.0%}  {one_line(entry.subcategory, 24):<24}", fg="cyan")
    examples = (json.dumps(text, ensure_ascii=False) for text in content.examples[:3])
    quotes = "".join(f"\n        > {one_line(text, _WIDTH)}" for text in examples)
    return f"{head}  {one_line(content.attack_id, 24)}\n        {one_line(content.description, _WIDTH)}{quotes}"
