"""The routes of the persona library: who is there, import of texts, and building (Crux specification, phase 9)."""

from __future__ import annotations

import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.web.fitting import need_debate, people, people_folder, persona_of
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from assay.protocols.crux.pages.personas import Person, persona_page, personas_page
from assay.protocols.crux.report.persona import persona_story
from assay.web import forms
from assay.web.app_state import answer, done, given, site_of, wants_json
from assay.web.data import story_data
from llm_runtime.errors import ConfigurationError, LlmRuntimeError, RunNotFound

if TYPE_CHECKING:
    from crux import Persona

_MOST_SKIPPED = 50


async def list_people(request: Request) -> Response:
    """Personas: who can debate, and whose texts wait to be built."""
    found = known_people()
    return answer(
        request,
        lambda: {"personas": [_person_data(person) for person in found]},
        lambda: personas_page(found, str(people_folder()), {}),
    )


async def import_texts(request: Request) -> Response:
    """Import texts: ``name``, and a ``path`` on this machine or a ``text``."""
    said = await given(request)
    try:
        name, told = _imported(said)
    except (LlmRuntimeError, OSError) as fault:
        if wants_json(request):
            raise ConfigurationError(str(fault)) from None
        return HTMLResponse(personas_page(known_people(), str(people_folder()), said, str(fault)), 422)
    return done(request, f"/personas/{name}", told, 201)


async def show_person(request: Request) -> Response:
    """A persona: contract, voice and beliefs, each with the sentence it came from."""
    person = _named(request)
    persona = persona_of(person.id) if person.ready else None
    story = persona_story(persona) if persona else None
    keys = list(site_of(request).settings().keys)
    return answer(
        request,
        lambda: {**_person_data(person), "story": story_data(story) if story else None},
        lambda: persona_page(person, story, keys, {}, ""),
    )


async def build_person(request: Request) -> Response:
    """Build a persona from its texts, as a run that can be watched, stopped and resumed."""
    site, person, said = site_of(request), _named(request), await given(request)
    if not person.own:
        raise ConfigurationError(f"{person.name} comes with Assay and is not built; import texts of your own")

    async def build() -> str:
        need_debate()
        task = {"name": person.name, "people": str(people_folder()), "most_chunks": _chunks(said)}
        return await site.works.start("persona", f"{person.name}, from their texts", task, {}, forms.terms(said))

    return await _begun(
        request, build, lambda why: persona_page(person, None, list(site.settings().keys), said, why)
    )


def known_people() -> list[Person]:
    """Whoever was imported here, then the authors that come with Assay."""
    from assay.protocols.crux.demo import shipped, shipped_persona
    from crux.personas.persona import slug

    shelf = people()
    found: list[Person] = []
    for name in shelf.names():
        try:
            check = shelf.check(name)
        except LlmRuntimeError as fault:
            found.append(Person(slug(name), name, 0, None, "not built", str(fault)))
            continue
        state = "not built" if not check.built else "texts changed" if check.stale else "built"
        found.append(Person(slug(name), name, check.texts, check.gate.nodes if check.gate else None, state))
    for author in shipped():
        found.append(_shipped(shipped_persona(author)))
    return found


def _shipped(persona: Persona) -> Person:
    beliefs = len(persona.beliefs.nodes) if persona.beliefs else None
    return Person(persona.id, persona.name, len(persona.corpus.items), beliefs, "comes with Assay")


def _named(request: Request) -> Person:
    wanted: str = request.path_params["persona_id"]
    person = next((each for each in known_people() if each.id == wanted), None)
    if person is None:
        raise RunNotFound(f"there is no persona {wanted[:80]!r}")
    return person


def _imported(said: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """Read and keep the texts; returns the persona's id and what was found."""
    from crux.personas import StoredCorpus, import_corpus
    from crux.personas.persona import check_name, slug

    text, path = str(said.get("text") or ""), str(said.get("path") or "").strip()
    if bool(text.strip()) == bool(path):
        raise ConfigurationError("give either a place on this machine or a text, one of the two")
    with tempfile.TemporaryDirectory(prefix="assay-import-") as folder:
        if path:
            place = Path(path).expanduser()
            if not place.is_absolute():
                raise ConfigurationError(f"write the place in full, from the root of the disk, not {path[:80]}")
        else:
            place = Path(folder)
            (place / "text.md").write_text(text, encoding="utf-8", errors="replace")
        found = import_corpus(place)
    author = str(said.get("name") or "").strip() or found.author
    if not author:
        raise ConfigurationError("the texts do not say whose they are; fill in the name")
    author = check_name(author)
    people().add_corpus(StoredCorpus(name=author, aliases=found.aliases, corpus=found.corpus))
    told = {
        "id": slug(author),
        "name": author,
        "texts": len(found.corpus.items),
        "passages": len(found.corpus.chunks),
        "skipped": list(found.skipped[:_MOST_SKIPPED]),
    }
    return slug(author), told


def _chunks(said: dict[str, Any]) -> int:
    return forms.whole(said, "most_chunks", 1) if said.get("most_chunks") else 200


async def _begun(request: Request, begin: Callable[[], Awaitable[str]], again: Callable[[str], str]) -> Response:
    try:
        run_id = await begin()
    except LlmRuntimeError as fault:
        if wants_json(request):
            raise
        return HTMLResponse(again(str(fault)), 422)
    return done(request, f"/runs/{run_id}", {"run_id": run_id, "page": f"/runs/{run_id}"}, 201)


def _person_data(person: Person) -> dict[str, Any]:
    return {
        "id": person.id,
        "name": person.name,
        "texts": person.texts,
        "beliefs": person.beliefs,
        "state": person.state,
        "ready": person.ready,
        "problem": person.problem,
    }
