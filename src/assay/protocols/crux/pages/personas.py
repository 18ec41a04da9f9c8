"""Personas: who can sit on a panel, whose texts are there, and the forms to import texts and to build from them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from assay.protocols.crux.people import PersonaRow
from assay.report.story import Story
from assay.web.composing import composer
from assay.web.templating import render


def personas_page(people: list[PersonaRow], folder: str, values: Mapping[str, Any], fault: str = "") -> str:
    """Return the list and the form of import.

    Args:
        people: whoever is known.
        folder: where they are kept.
        values: what was filled in before.
        fault: why that was refused.
    """
    return render("crux/personas.html", people=people, folder=folder, values=values, fault=fault)


def persona_page(
    person: PersonaRow, story: Story | None, reachable: list[str], values: Mapping[str, Any], fault: str
) -> str:
    """Return the page of one persona: what it came to, and the form to build it.

    Args:
        person: who.
        story: the persona in full, where it is built.
        reachable: hosted providers that have a key.
        values: what was filled in before.
        fault: why that was refused.
    """
    form = composer(None, (), reachable=bool(reachable))
    return render("crux/persona.html", person=person, story=story, form=form, values=values, fault=fault)
