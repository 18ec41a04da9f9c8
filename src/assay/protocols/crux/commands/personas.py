"""`assay debate personas`: those who debate, from a shelf of texts to a checked persona."""

from __future__ import annotations

import shlex
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import click

from assay.console.declared import commands
from assay.console.lazy import HELP, lazy_group
from assay.protocols.crux.commands import COMMANDS
from assay.protocols.crux.people import (
    add_texts,
    fetched,
    known_people,
    open_people,
    own_name,
    persona_of,
    shipped_id,
    stored_name,
)

if TYPE_CHECKING:
    from crux.book import Stance

_command = commands(click.command, __package__ or "", "options.toml")


@click.group(cls=lazy_group(COMMANDS["personas"]), context_settings=HELP)
def personas() -> None:
    """Import texts, build personas from them, and look at what came of it."""


@_command("import")
def import_(
    place: str, name: str | None, author: str, speaker: str, drafts: bool, fetch: bool, people: str | None
) -> int:
    """Import texts: a folder, documents, a feed, a thread, an export of a blog, a chat or X, or a table.

    By the ending of a name: .md, .rst, .txt (an essay, or minutes with "Name:"), .html with its comments, .pdf,
    .docx, .epub, .eml, .mbox, .vtt, .srt, .xml, .rss, .atom, .csv and .jsonl with a column "speaker", .json as
    GitHub, GitLab, Slack, Discord and Teams export it; a folder or a ZIP file of these. Of several speakers one
    is kept. What is quoted stays somebody else's words. Every character is accounted for; what is left out is
    listed with its reason. With --fetch, PLACE may be the https address of any of these.
    """
    from assay.report.clean import one_line
    from assay.report.units import count_noun

    with tempfile.TemporaryDirectory(prefix="assay-fetch-") as folder:
        path, url = fetched(place, Path(folder), fetch=fetch)
        stored, found = add_texts(
            path, name or "", open_people(people), speaker=speaker or author, drafts=drafts, url=url
        )
    dates = [item.date for item in stored.corpus.items if item.date]
    span = f", {min(dates)} to {max(dates)}" if dates else ", undated"
    also = one_line(f", also known as {', '.join(stored.aliases)}", 200) if stored.aliases else ""
    texts, passages = count_noun(len(stored.corpus.items), "text"), count_noun(len(stored.corpus.chunks), "passage")
    click.echo(f"{stored.name}: {texts}, {passages}{span}{also}")
    click.echo(found.balance.line(), err=True)
    for line in found.skipped[:20]:
        click.echo(f"skipped: {one_line(line)}", err=True)
    if len(found.skipped) > 20:
        click.echo(f"skipped: {len(found.skipped) - 20} more", err=True)
    click.echo(f"build it with: assay debate personas build {shlex.quote(stored.name)}", err=True)
    return 0


@_command("show")
def show(name: str, people: str | None) -> int:
    """Show NAME: who the persona is, what it believes, and where each belief was written."""
    from assay.protocols.crux.report.persona import persona_story
    from assay.report.terminal import print_story

    print_story(persona_story(persona_of(name, open_people(people))), sys.stdout, whole=True)
    return 0


@_command("correct")
def correct(name: str, what: str, claim: str, into: str, stance: Stance | None, by: str, people: str | None) -> int:
    """Correct the claim book of NAME: reject a claim, merge two, or say that NAME did not say it.

    CLAIM is the id of a claim, c-..., as an export of a comparison and `show` have it. What is said is kept with
    its date, and every later reading, comparison and build keeps to it.
    """
    from crux.book import Correction
    from crux.building import utc_now

    store = open_people(people)
    person = stored_name(name, store) or name
    if (what == "merge") != bool(into) or (what == "accept") != bool(stance):
        raise click.UsageError("merge needs --into, accept needs --stance, and the others take neither")
    own = person if what in ("accept", "not-said") else ""
    kind = "not_said" if what == "not-said" else what
    said = Correction(what=kind, claim=claim, author=own, into=into, stance=stance, by=by, at=utc_now())  # pyright: ignore[reportArgumentType]
    store.correct(person, said)
    click.echo(f"{person}: {what} {claim}, kept; the next comparison or build of {person} keeps to it")
    return 0


@_command("check")
def check(name: str, people: str | None) -> int:
    """Check NAME: every quotation against the texts, and the claim book against its gate."""
    from assay.report.clean import one_line
    from assay.report.units import count_noun
    from crux.personas.authors import shipped_persona
    from crux.personas.store import check_persona

    store = open_people(people)
    if author := shipped_id(name, store):
        checked = check_persona(shipped_persona(author))
        click.echo(f"{checked.name} comes with Assay: contract and beliefs were written by hand, not read by a model")
    else:
        checked = store.check(own_name(name, store))
    click.echo(f"{checked.name}: {count_noun(checked.texts, 'text')}, {count_noun(checked.passages, 'passage')}")
    for problem in checked.problems:
        click.echo(f"- {one_line(problem)}")
    if not checked.problems:
        click.echo("nothing is wrong: every quotation stands where it is said to")
    return 1 if checked.problems else 0


@_command("list")
def list_(people: str | None) -> int:
    """List those who can debate, and those who are not built yet."""
    rows = known_people(open_people(people))
    width = max(len(row.name) for row in rows)
    click.secho(f"{'persona':<{width}}  {'texts':>6}  {'beliefs':>7}  state", bold=True)
    for row in rows:
        beliefs = row.beliefs or ("" if row.state == "not built" else "none")
        click.echo(f"{row.name:<{width}}  {row.texts:>6}  {beliefs:>7}  {row.problem or row.state}")
    return 0
