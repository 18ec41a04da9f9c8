"""Where personas are kept, and how one is found by name: what was built, then the two invented authors."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from llm_runtime.errors import ConfigurationError

if TYPE_CHECKING:
    from crux import Persona
    from crux.personas import PersonaStore

F = TypeVar("F", bound=Callable[..., Any])


def people_option(command: F) -> F:
    """Where personas are kept."""
    return click.option(
        "--people",
        metavar="FOLDER",
        envvar="ASSAY_PEOPLE",
        help="The folder of personas [default: personas in Assay's data folder].",
    )(command)


def open_people(folder: str | None) -> PersonaStore:
    """Open the folder of personas, the user's own where none is named; made when something is first written."""
    from crux.personas import PersonaStore
    from llm_runtime.settings import data_dir

    named = folder or os.environ.get("ASSAY_PEOPLE")
    return PersonaStore(Path(named) if named else data_dir() / "personas")


def known_personas() -> list[str]:
    """Return everybody who can sit on a panel: what was built here, then the authors that come with Assay."""
    return list(dict.fromkeys([*open_people(None).names(), *shipped_ids()]))


def shipped_ids() -> list[str]:
    """Return the ids of the authors that come with Assay."""
    from crux.personas import shipped_authors

    return shipped_authors()


def panel_of(names: Sequence[str], people: PersonaStore) -> list[Persona]:
    """Return the personas of these names, in that order.

    Raises:
        ConfigurationError: there are fewer than two, or one twice.
        PersonaError: one is not there, or was not built.
    """
    if len(names) < 2:
        raise ConfigurationError(
            "a debate needs two personas or more, e.g. --personas maud-tarrowby,ilario-fennimast; there are: "
            + ", ".join(dict.fromkeys([*people.names(), *shipped_ids()]))
        )
    found = [persona_of(name, people) for name in names]
    ids = [persona.id for persona in found]
    if twice := next((name for name in ids if ids.count(name) > 1), None):
        raise ConfigurationError(f"personas names {twice} twice; a debate needs distinct ones")
    return found


def persona_of(name: str, people: PersonaStore) -> Persona:
    """One persona, found as :func:`kept_name` finds it; where it is not kept, one of the two that are shipped.

    Raises:
        PersonaError: it is not there, or was not built.
    """
    from assay.protocols.crux.demo import shipped, shipped_persona
    from crux.personas import PersonaError
    from crux.personas.persona import slug

    kept = kept_name(name, people)
    if kept is not None:
        return people.load(kept)
    if slug(name) in shipped():
        return shipped_persona(slug(name))
    known = ", ".join([*people.names(), *shipped()])
    raise PersonaError(f"there is no persona called {ascii(name)[1:-1][:60]}; there is {known}")


def kept_name(name: str, people: PersonaStore) -> str | None:
    """Whom ``name`` means of those whose texts are kept; None where that is nobody, or more than one.

    The whole name or the id, in any case; else one word of the name, or a name that the texts are signed with.

    Raises:
        PersonaError: ``name`` has no letters.
    """
    from crux.personas import PersonaError
    from crux.personas.persona import slug

    wanted, said = slug(name), " ".join(name.split()).casefold()
    known = people.names()
    if whole := next((one for one in known if slug(one) == wanted), None):
        return whole

    def called(one: str) -> bool:
        try:
            aliases = people.corpus(one).aliases
        except PersonaError:
            aliases = ()
        return said in {word.casefold() for word in (*one.split(), *aliases)}

    meant = [one for one in known if called(one)]
    return meant[0] if len(meant) == 1 else None
