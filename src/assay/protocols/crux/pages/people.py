"""The routes of the persona library: who is there, import of texts, and building (Crux specification, phase 9)."""

from __future__ import annotations

import tempfile
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from assay.protocols.crux.pages.personas import persona_page, personas_page
from assay.protocols.crux.people import PersonaRow, add_texts, known_people, open_people, persona_of
from assay.protocols.crux.report.persona import persona_story
from assay.web import forms
from assay.web.acting import begun, show_begun
from assay.web.app_state import is_json, redirect, request_fields, respond, site_of, wants_json
from assay.web.data import story_data
from crux.personas.persona import slug
from llm_runtime.errors import ConfigurationError, LlmRuntimeError, RunNotFound

_MOST_SKIPPED = 50


async def list_people(request: Request) -> Response:
    """List personas: who can debate, and whose texts wait to be built."""
    listed = known_people()
    page = partial(personas_page, listed, str(open_people().root), {})
    return respond(request, lambda: {"personas": [_person_data(person) for person in listed]}, page)


async def import_texts(request: Request) -> Response:
    """Import texts: ``name``, and a ``path`` on this machine or a ``text``."""
    fields = await request_fields(request)
    try:
        imported = _imported(fields)
    except (LlmRuntimeError, OSError) as fault:
        if wants_json(request):
            raise ConfigurationError(str(fault)) from None
        return HTMLResponse(personas_page(known_people(), str(open_people().root), fields, str(fault)), 422)
    return redirect(request, f"/personas/{imported['id']}", imported, 201)


async def show_person(request: Request) -> Response:
    """Show a persona: contract, voice and beliefs, each with the sentence it came from."""
    person = _named(request)
    story = persona_story(persona_of(person.id, open_people())) if person.ready else None
    page = partial(persona_page, person, story, list(site_of(request).settings().keys), {}, "")
    return respond(request, lambda: {**_person_data(person), "story": story_data(story) if story else None}, page)


async def build_person(request: Request) -> Response:
    """Build a persona from its texts, as a run that can be watched, stopped and resumed."""
    site, person, fields = site_of(request), _named(request), await request_fields(request)
    if not person.own:
        raise ConfigurationError(f"{person.name} comes with Assay and is not built; import texts of your own")
    # Whose texts are read, and where they are, is the address's to say, not the form's.
    whose = {"kind": "crux.persona", "name": person.name, "people": str(open_people().root)}

    async def build() -> Response:
        run, terms = forms.read_form({**fields, **whose}, strict=is_json(request))
        return show_begun(request, await site.runs.start(run, terms))

    return await begun(request, build, lambda why: persona_page(person, None, list(site.settings().keys), fields, why))


def _named(request: Request) -> PersonaRow:
    wanted: str = request.path_params["persona_id"]
    person = next((each for each in known_people() if each.id == wanted), None)
    if person is None:
        raise RunNotFound(f"there is no persona {wanted[:80]!r}")
    return person


def _imported(fields: dict[str, Any]) -> dict[str, Any]:
    """Read and keep the texts; return the persona's id and what was read."""
    text, path = str(fields.get("text") or ""), str(fields.get("path") or "").strip()
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
        name, speaker = (str(fields.get(key) or "").strip() for key in ("name", "speaker"))
        stored, found = add_texts(place, name, open_people(), speaker=speaker)
    counts = {"texts": len(stored.corpus.items), "passages": len(stored.corpus.chunks)}
    read = {"balance": found.balance.line(), "skipped": list(found.skipped[:_MOST_SKIPPED])}
    return {"id": slug(stored.name), "name": stored.name, **counts, **read}


def _person_data(person: PersonaRow) -> dict[str, Any]:
    return {**asdict(person), "ready": person.ready}
