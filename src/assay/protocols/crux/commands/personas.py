"""`assay debate personas`: those who debate, from a shelf of texts to a checked persona."""

from __future__ import annotations

import asyncio
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from assay.console.options import cap_options, caps_from, model_options, settings_from
from assay.protocols.crux.people import kept_name, open_people, people_option, persona_of
from llm_runtime.errors import ConfigurationError

if TYPE_CHECKING:
    from crux import Persona
    from crux.personas import Answers, GateReport, PersonaStore, StoredCorpus
    from llm_runtime.settings import Settings
    from llm_runtime.wrappers.budgeted import Caps

#: Tokens of a call of a build, in and out, as Crux's specification has them.
_CONTRACT, _EXTRACTION = (6_500, 500), (700, 300)


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
def personas() -> None:
    """Import texts, build personas from them, and look at what came of it."""


@personas.command("import")
@click.argument("path", type=click.Path(path_type=Path))
@click.option("--name", help="Whose texts they are [default: the author that the texts name].")
@people_option
def import_(path: Path, name: str | None, people: str | None) -> int:
    """Import texts: a folder of Markdown, text or HTML, an RSS or Atom file, an X archive, or JSONL."""
    from assay.report.clean import one_line
    from assay.report.units import several
    from crux.personas import StoredCorpus, import_corpus
    from crux.personas.persona import check_name

    found = import_corpus(path)
    author = name or found.author
    if not author:
        raise ConfigurationError(f"{path.name} does not say whose texts these are; say it with --name")
    author = check_name(author)
    # A text signed by another name than the persona's gives the author away all the same.
    aliases = dict.fromkeys(one for one in (found.author, *found.aliases) if one and one != author)
    kept = StoredCorpus(name=author, aliases=tuple(aliases), corpus=found.corpus)
    open_people(people).add_corpus(kept)
    dates = [item.date for item in found.corpus.items if item.date]
    span = f", {min(dates)} to {max(dates)}" if dates else ", undated"
    also = one_line(f", also known as {', '.join(aliases)}", 200) if aliases else ""
    click.echo(
        f"{author}: {several(len(found.corpus.items), 'text')}, "
        f"{several(len(found.corpus.chunks), 'passage')}{span}{also}"
    )
    for line in found.skipped[:20]:
        click.echo(f"skipped: {one_line(line)}", err=True)
    if len(found.skipped) > 20:
        click.echo(f"skipped: {len(found.skipped) - 20} more", err=True)
    click.echo(f"build it with: assay debate personas build {shlex.quote(author)}", err=True)
    return 0


@personas.command()
@click.argument("name")
@click.option(
    "--most-chunks", type=click.IntRange(1), default=200, show_default=True, help="Passages read for beliefs."
)
@click.option("--strict", is_flag=True, help="Keep nothing where the beliefs do not pass their gate.")
@click.option("-y", "--yes", is_flag=True, help="Do not ask, whatever it may cost.")
@model_options
@cap_options
@people_option
def build(
    name: str,
    most_chunks: int,
    strict: bool,
    yes: bool,
    model: str | None,
    seats: tuple[str, ...],
    max_tokens: int | None,
    budget: float | None,
    max_calls: int | None,
    deadline: float | None,
    people: str | None,
) -> int:
    """Build NAME from the texts that were imported: contract, belief graph, voice.

    Answers are kept: a build that was stopped goes on where it was, and after a further import only what changed is
    asked. Where the beliefs do not pass their gate it says why, the exit code is 1, and the persona is kept without
    them.
    """
    from assay.protocols.crux.commands.run import need_extra
    from assay.report.units import several
    from crux.personas import require_graph

    need_extra()
    store = open_people(people)
    kept = _kept(store, name)
    settings = settings_from(model, seats, max_tokens)
    answers = store.answers(kept.name)
    _announce(kept, answers, most_chunks, settings, yes=yes)
    caps = caps_from(budget, max_calls, deadline)
    try:
        persona, report = asyncio.run(_build(kept, answers, settings, caps, most_chunks))
    finally:
        click.echo(f"{several(answers.asked, 'question')} asked, {answers.reused} answered before", err=True)
    if strict:
        require_graph(persona, report)
    store.save(persona)
    counts = f"{report.nodes} beliefs, {report.largest_component:.0%} in one piece"
    click.echo(f"{persona.name}: {counts}, {report.grounded_twice:.0%} in more than one text")
    for reason in report.reasons:
        click.echo(f"no belief graph: {reason}", err=True)
    if report.reasons:
        click.echo(f"{persona.name} can debate all the same, from passages alone", err=True)
    return 0 if report.passed else 1


@personas.command()
@click.argument("name")
@people_option
def show(name: str, people: str | None) -> int:
    """Show NAME: who the persona is, what it believes, and where each belief was written."""
    from assay.protocols.crux.report.persona import persona_story
    from assay.report.terminal import print_story

    print_story(persona_story(persona_of(name, open_people(people))), sys.stdout, whole=True)
    return 0


@personas.command()
@click.argument("name")
@people_option
def check(name: str, people: str | None) -> int:
    """Check NAME: every quotation against the texts, and the belief graph against its gate."""
    from assay.protocols.crux.demo import shipped, shipped_persona
    from assay.report.clean import one_line
    from assay.report.units import several
    from crux.personas import check_persona
    from crux.personas.persona import slug

    store = open_people(people)
    if kept_name(name, store) is None and slug(name) in shipped():
        found = check_persona(shipped_persona(slug(name)))
        click.echo(f"{found.name} comes with Assay: contract and beliefs were written by hand, not read by a model")
    else:
        found = store.check(_kept(store, name).name)
    click.echo(f"{found.name}: {several(found.texts, 'text')}, {several(found.passages, 'passage')}")
    for problem in found.problems:
        click.echo(f"- {one_line(problem)}")
    if not found.problems:
        click.echo("nothing is wrong: every quotation stands where it is said to")
    return 1 if found.problems else 0


@personas.command("list")
@people_option
def list_(people: str | None) -> int:
    """List those who can debate, and those who are not built yet."""
    from assay.protocols.crux.demo import shipped, shipped_persona

    store = open_people(people)
    rows: list[tuple[str, str, str, str]] = []
    for name in store.names():
        found = store.check(name)
        beliefs = str(found.gate.nodes) if found.gate else "none" if found.built else ""
        state = "built, texts changed since" if found.stale else "built" if found.built else "not built"
        rows.append((name, str(found.texts), beliefs, state))
    for author in shipped():
        persona = shipped_persona(author)
        count = str(len(persona.beliefs.nodes)) if persona.beliefs else "none"
        rows.append((author, str(len(persona.corpus.items)), count, "comes with Assay, invented"))
    width = max(len(row[0]) for row in rows)
    click.secho(f"{'persona':<{width}}  {'texts':>6}  {'beliefs':>7}  state", bold=True)
    for name, texts, beliefs, state in rows:
        click.echo(f"{name:<{width}}  {texts:>6}  {beliefs:>7}  {state}")
    return 0


def _kept(store: PersonaStore, name: str) -> StoredCorpus:
    """Imported texts by name or id.

    Raises:
        PersonaError: there are none; one of the two who come with Assay needs none.
    """
    from assay.protocols.crux.demo import shipped
    from crux.personas import PersonaError
    from crux.personas.persona import slug

    if kept_name(name, store) is None and slug(name) in shipped():
        raise PersonaError(
            f"{slug(name)} comes with Assay, with a contract and beliefs written by hand, and can debate as it is; "
            "to build one from texts of your own, import them first"
        )
    return store.corpus(kept_name(name, store) or name)


def _announce(kept: StoredCorpus, answers: Answers, most_chunks: int, settings: Settings, *, yes: bool) -> None:
    from assay.protocols.crux.commands.run import WORTH_ASKING, price_of
    from assay.report.units import money, several
    from crux import ModelTable
    from crux.personas import build_calls

    table, price = ModelTable(), price_of(settings)
    calls = build_calls(kept.name, kept.corpus, answers, most_chunks=most_chunks)
    parts = (
        (table.model("contract").id, calls.contract, _CONTRACT),
        (table.model("extraction").id, calls.passages + calls.merging, _EXTRACTION),
    )
    costs = [
        known.cost(count * tokens[0], count * tokens[1]) if (known := price(model)) else None
        for model, count, tokens in parts
    ]
    cost = None if None in costs else sum(cost or 0 for cost in costs)
    said = "at a price nobody has written down" if cost is None else f"about {money(cost)}"
    if not calls.total:
        click.echo("nothing has changed: every answer is kept", err=True)
        return
    click.echo(
        f"about {several(calls.total, 'call')}, {said}: {calls.contract} for the portrait, "
        f"{several(calls.passages, 'passage')} to read, about {calls.merging} to merge beliefs",
        err=True,
    )
    if (cost is None or cost > WORTH_ASKING) and not yes and sys.stdin.isatty() and sys.stderr.isatty():
        click.confirm("Go on?", abort=True, err=True)


async def _build(
    kept: StoredCorpus, answers: Answers, settings: Settings, caps: Caps | None, most_chunks: int
) -> tuple[Persona, GateReport]:
    from crux.personas import build_persona
    from llm_runtime.gateway import Gateway

    async with Gateway(settings, caps=caps) as gateway:
        await gateway.ready()
        return await build_persona(
            kept.name,
            kept.corpus,
            generate=gateway.generate,
            aliases=kept.aliases,
            handle=kept.handle,
            answers=answers,
            emit=_step,
            most_chunks=most_chunks,
        )


def _step(event: Any) -> None:
    from crux.events import PersonaStep

    if isinstance(event, PersonaStep) and (event.done == event.of or event.done % 20 == 0):
        click.echo(f"{event.step}: {event.done} of {event.of}", err=True)
