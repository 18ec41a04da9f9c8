"""`assay people`: who may sign in at `assay serve --people FILE`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from assay.console.declared import commands, declares
from assay.console.lazy import ToldGroup

if TYPE_CHECKING:
    from assay.web.people import People


@click.group(cls=ToldGroup)
@declares(__package__ or "", "people.toml")("people")
@click.pass_context
def people(context: click.Context, path: str) -> None:
    """Say who may sign in at `assay serve --people FILE`, with which role and budget.

    A reader sees what is shared; a member starts runs of their own; an admin sees and sets everything. What is
    changed here counts from the next request on, and ends open pages.
    """
    context.obj = path


_command = commands(people.command, __package__ or "", "people.toml")


@_command("add")
@click.pass_obj
def add_person(path: str, budget: str | None, keys: tuple[str, ...], at: str, **fields: Any) -> None:
    """Add somebody, and print the link for their first sign-in, once: only a hash of it is kept.

    \b
    assay people add anna --role member --budget 5/day
    """
    from assay.batch.spending import read_budget
    from assay.web.people import Person

    if budget:
        fields["budget"], fields["per"] = read_budget(budget)
    fields["keys"] = {provider: f"env:{variable}" for provider, _, variable in (each.partition("=") for each in keys)}
    person = Person.model_validate(fields)
    _show_link(at, person.name, _people(path).add(person))


@_command("link")
@click.pass_obj
def link_person(path: str, name: str, at: str) -> None:
    """Print a new link for one sign-in; the password, and whoever is signed in with it, count no more."""
    _show_link(at, name, _people(path).link(name))


@people.command("list")
@click.pass_obj
def list_people(path: str) -> None:
    """Show names, roles and budgets; never a secret."""
    for person in _people(path).all().values():
        bound = ", ".join(person.bounds) or "no budget"
        click.echo(f"{person.name:<20}{person.role:<9}{bound}{'  has not signed in yet' if person.once else ''}")


@_command("role")
@click.pass_obj
def change_role(path: str, name: str, role: str) -> None:
    """Give somebody another role, from their next request on."""
    _people(path).change(name, role=role)


@_command("remove")
@click.pass_obj
def remove_person(path: str, name: str) -> None:
    """Remove somebody: they are known no more, and what they look at ends. Their runs stay, for admins."""
    _people(path).remove(name)


def _people(path: str) -> People:
    from llm_runtime.extras import needing

    with needing("a server's list of people", "web"):
        from assay.web.people import People
    return People(Path(path).expanduser())


def _show_link(at: str, name: str, secret: str) -> None:
    # Behind a # it reaches no server's log; the page takes it out of the address and sends it as a form.
    click.echo(f"{at.rstrip('/')}/open#{name}:{secret}")
    click.echo("This is shown once, and opens once: whoever opens it chooses the password.", err=True)
