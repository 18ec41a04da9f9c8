"""Where personas are kept, and how one is found by name: what was built, then the two invented authors."""

from __future__ import annotations

from collections.abc import Callable
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
    """The folder of personas, made when something is first written."""
    from crux.personas import PersonaStore
    from llm_runtime.settings import data_dir

    return PersonaStore(Path(folder) if folder else data_dir() / "personas")


def panel_of(names: str, people: PersonaStore) -> list[Persona]:
    """The personas of ``--personas A,B[,C...]``, in that order.

    Raises:
        ConfigurationError: there are fewer than two, or one twice.
        PersonaError: one is not there, or was not built.
    """
    asked = [name.strip() for name in names.split(",") if name.strip()]
    if len(asked) < 2:
        raise ConfigurationError(
            "--personas takes two names or more, e.g. --personas maud-tarrowby,ilario-fennimast"
        )
    found = [persona_of(name, people) for name in asked]
    ids = [persona.id for persona in found]
    if twice := next((name for name in ids if ids.count(name) > 1), None):
        raise ConfigurationError(f"--personas names {twice} twice; a debate needs distinct ones")
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
