"""Personas: who can sit on a panel, whose texts are there, and the forms to import texts and to build from them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from assay.report.story import Story
from assay.web.pages.starting import TermsFields
from assay.web.templating import render


@dataclass(frozen=True, slots=True)
class PersonaRow:
    """Somebody whose texts are here.

    Args:
        id: as addresses and debates name it.
        texts: how many.
        beliefs: nodes of the belief graph; ``None`` where there is none.
        state: ``"built"``, ``"texts changed"``, ``"not built"`` or ``"comes with Assay"``.
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
    terms = TermsFields(reachable)
    return render("crux/persona.html", person=person, story=story, terms=terms, values=values, fault=fault)
