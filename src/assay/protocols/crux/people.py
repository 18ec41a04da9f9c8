"""Where personas are kept, and how one is found by name: what was built, then the two invented authors."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

from llm_runtime.errors import ConfigurationError, LlmRuntimeError
from llm_runtime.names import Kind, Names
from llm_runtime.structs import Struct

if TYPE_CHECKING:
    from crux import Persona
    from crux.personas.importing import Gathered
    from crux.personas.store import PersonaStore, StoredCorpus


def open_people(folder: str | None = None) -> PersonaStore:
    """Open the folder of personas, the user's own where none is named; made when something is first written."""
    from crux.personas.store import PersonaStore
    from llm_runtime.settings import data_dir

    named = folder or os.environ.get("ASSAY_PEOPLE")
    return PersonaStore(Path(named) if named else data_dir() / "personas")


def _other_folder(text: str) -> list[tuple[Kind, str]]:
    # A run keeps the folder that its people were looked up in: the user's own is nothing that a caller named.
    return [] if Path(text).absolute() == open_people().root.absolute() else [("folder", text)]


PeopleFolder: TypeAlias = Annotated[str, Names("folder", _other_folder)]


class PersonaRow(Struct):
    """Somebody whose texts are here.

    Args:
        id: as addresses and debates name it.
        texts: how many.
        beliefs: nodes of the belief graph; ``None`` where there is none.
        state: ``"built"``, ``"texts changed since"``, ``"not built"`` or ``"comes with Assay"``.
        problem: what is wrong with what is kept, where something is.
    """

    id: str
    name: str
    texts: int
    beliefs: int | None
    state: str
    problem: str = ""

    @property
    def ready(self) -> bool:
        """Whether it can debate."""
        return self.state != "not built" and not self.problem

    @property
    def own(self) -> bool:
        """Whether it was made here, and so can be built anew."""
        return self.state != "comes with Assay"


def known_people(people: PersonaStore | None = None) -> list[PersonaRow]:
    """Return whoever was imported here, then the authors that come with Assay."""
    from crux.personas.authors import shipped_persona
    from crux.personas.persona import slug
    from crux.personas.shipped import shipped_authors

    people, listed = people or open_people(), list[PersonaRow]()
    for name in people.names():
        try:
            check = people.check(name)
        except LlmRuntimeError as fault:
            listed.append(PersonaRow(slug(name), name, 0, None, "not built", str(fault)))
            continue
        state = "not built" if not check.built else "texts changed since" if check.stale else "built"
        listed.append(PersonaRow(slug(name), name, check.texts, check.beliefs, state))
    for persona in map(shipped_persona, shipped_authors()):
        beliefs = len(persona.beliefs.nodes) if persona.beliefs else None
        listed.append(PersonaRow(persona.id, persona.name, len(persona.corpus.items), beliefs, "comes with Assay"))
    return listed


def known_personas() -> list[str]:
    """Return everybody who can sit on a panel: what was built here, then the authors that come with Assay."""
    return _known(open_people())


def panel_of(names: Sequence[str], people: PersonaStore) -> list[Persona]:
    """Return the personas of these names, in that order.

    Raises:
        ConfigurationError: there are fewer than two, or one twice.
        PersonaError: one is not there, or was not built.
    """
    if len(names) < 2:
        raise ConfigurationError(
            "personas: a debate needs two personas or more, e.g. maud-tarrowby,ilario-fennimast; there are: "
            + ", ".join(_known(people))
        )
    panel = [persona_of(name, people) for name in names]
    ids = [persona.id for persona in panel]
    if twice := next((name for name in ids if ids.count(name) > 1), None):
        raise ConfigurationError(f"personas: {twice} is named twice; a debate needs distinct ones")
    return panel


def persona_of(name: str, people: PersonaStore) -> Persona:
    """Return a persona as :func:`stored_name` finds it; where none is stored, one of the two that are shipped.

    Raises:
        PersonaError: it is not there, or was not built.
    """
    from crux.personas.authors import shipped_persona

    if author := shipped_id(name, people):
        return shipped_persona(author)
    return people.load(own_name(name, people))


def own_name(name: str, people: PersonaStore) -> str:
    """Return whom ``name`` means of those whose texts are stored, as :func:`stored_name` finds it.

    Raises:
        PersonaError: that is nobody.
    """
    from crux.personas.persona import PersonaError

    if (stored := stored_name(name, people)) is None:
        known = ", ".join(_known(people))
        raise PersonaError(f"there is no persona called {ascii(name)[1:-1][:60]}; there are: {known}")
    return stored


def shipped_id(name: str, people: PersonaStore) -> str | None:
    """Return which of the authors that come with Assay ``name`` means; ``None`` where texts of one's own go before.

    Raises:
        PersonaError: ``name`` has no letters.
    """
    from crux.personas.persona import slug
    from crux.personas.shipped import shipped_authors

    author = slug(name)
    return author if author in shipped_authors() and stored_name(name, people) is None else None


def stored_name(name: str, people: PersonaStore) -> str | None:
    """Return whom ``name`` means of those whose texts are stored; ``None`` where that is nobody, or more than one.

    The whole name or the id, in any case; else one word of the name, or a name that the texts are signed with.

    Raises:
        PersonaError: ``name`` has no letters.
    """
    from crux.personas.persona import PersonaError, slug

    wanted, word = slug(name), " ".join(name.split()).casefold()
    names = people.names()
    if whole := next((one for one in names if slug(one) == wanted), None):
        return whole

    def called(one: str) -> bool:
        try:
            aliases = people.corpus(one).aliases
        except PersonaError:
            aliases = ()
        return word in {part.casefold() for part in (*one.split(), *aliases)}

    meant = [one for one in names if called(one)]
    return meant[0] if len(meant) == 1 else None


def add_texts(
    place: Path, name: str, people: PersonaStore, *, speaker: str = "", drafts: bool = False, url: str = ""
) -> tuple[StoredCorpus, Gathered]:
    """Import the texts at ``place``; return what is stored now, and what was found, with the account of it.

    Args:
        name: whose texts they are; the author that they name where it is empty.
        url: where they were fetched from.
        speaker: whose entries of a feed or WordPress export, or whose words of a talk or a thread, are meant.
        drafts: take what was never published too.

    Raises:
        ConfigurationError: neither says whose they are; or there are no texts.
        PersonaError: the name cannot be used.
    """
    from crux.personas.corpus import Corpus
    from crux.personas.importing import import_corpus
    from crux.personas.persona import check_name
    from crux.personas.store import StoredCorpus

    texts = import_corpus(place, speaker=speaker, drafts=drafts, name=name)
    if not (name or texts.author):
        raise ConfigurationError("name: the texts do not say whose they are; name the author")
    person = check_name(name or texts.author)
    # A text signed by another name than the persona's gives the author away all the same.
    aliases = dict.fromkeys(one for one in (texts.author, *texts.aliases) if one and one != person)
    corpus = texts.corpus
    if url:
        corpus = Corpus(items=tuple(item.model_copy(update={"url": item.url or url}) for item in corpus.items))
    stored = StoredCorpus(name=person, aliases=tuple(aliases), corpus=corpus)
    people.add_corpus(stored)
    return stored, texts


def fetched(place: str, folder: Path, *, fetch: bool) -> tuple[Path, str]:
    """Return a place as a path, and the address that it was fetched from, if it is one.

    Args:
        folder: where a fetched page is written.
        fetch: whether the user said that something may be fetched.

    Raises:
        ConfigurationError: it is an address and nothing may be fetched; or it cannot be had, or must not be.
    """
    from crux.personas.fetching import as_file, is_address
    from llm_runtime.http.public import read_page

    if not is_address(place):
        return Path(place), ""
    if not fetch:
        raise ConfigurationError(f"{place[:200]} is an address; --fetch fetches it, and nothing is fetched else")
    page = asyncio.run(read_page(place))
    assert page is not None  # without an etag there is no "as before"
    return as_file(page, folder), page.url


def _known(people: PersonaStore) -> list[str]:
    from crux.personas.shipped import shipped_authors

    return list(dict.fromkeys([*people.names(), *shipped_authors()]))
