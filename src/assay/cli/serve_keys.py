"""`assay serve keys`: who may ask this server as if it were a model."""

from __future__ import annotations

import click

from assay.console.declared import commands
from assay.console.lazy import ToldGroup


@click.group(cls=ToldGroup)
def keys() -> None:
    """Make, list and remove the keys of programs that ask `assay serve` at /v1 and /mcp.

    These are keys to your Assay. Those to vendors are kept by: assay keys.
    """


_command = commands(keys.command, __package__ or "", "serve_keys.toml")


@_command("add")
def add_key(name: str, budget: str | None, allow: tuple[str, ...], background: bool, person: str) -> None:
    """Make a key and print it, once: only a hash of it is kept.

    \b
    assay serve keys add notes --budget 5/day --allow assay/crucible
    """
    from assay.api.catalogue import PREFIX, chat_models
    from assay.api.keys import ApiKey, ApiKeys
    from assay.batch.spending import read_budget
    from llm_runtime.errors import ConfigurationError

    models = chat_models()
    wanted = tuple(one.removeprefix(PREFIX) for one in allow)
    if unknown := next((one for one in wanted if one not in models), None):
        listed = ", ".join(model.id for model in models.values())
        raise ConfigurationError(f"--allow {unknown[:60]}: there is no such model; there are: {listed}")
    if person and budget:
        raise ConfigurationError("--budget: the runs of a person's key spend that person's own; leave one of the two")
    amount, per = read_budget(budget) if budget else (None, "ever")
    key = ApiKey(name=name, hash="", budget=amount, per=per, allow=wanted, background=background, person=person)
    click.echo(ApiKeys().add(key))
    click.echo("This is shown once. Programs send it as Authorization: Bearer.", err=True)


@keys.command("list")
def list_keys() -> None:
    """Show the keys' names, budgets and models; never a key."""
    from assay.api.catalogue import PREFIX
    from assay.api.keys import ApiKeys

    known = ApiKeys().all()
    for key in known:
        bound = "no budget" if key.budget is None else f"${key.budget:g}" + (f"/{key.per}" if key.per != "ever" else "")
        models = ", ".join(PREFIX + name for name in key.allow) or "all models"
        more = "".join(f"  {word}" for word in ("background" if key.background else "", key.person) if word)
        click.echo(f"{key.name:<20}{bound:<14}{models}{more}")
    if not known:
        click.echo("there are no keys yet; make one with: assay serve keys add NAME", err=True)


@_command("remove")
def remove_key(name: str) -> None:
    """Remove a key; it opens nothing from now on."""
    from assay.api.keys import ApiKeys

    ApiKeys().remove(name)
    click.echo(f"{name} opens nothing any more", err=True)
