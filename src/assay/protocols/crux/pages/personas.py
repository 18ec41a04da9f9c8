"""Personas: who can sit on a panel, whose texts are there, and the forms to import texts and to build from them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from assay.report.html import block_html
from assay.report.markup import Element, element
from assay.report.story import Story
from assay.report.units import several
from assay.web.pages.frame import page
from assay.web.pages.starting import fault_note, labelled, send, terms_fields


@dataclass(frozen=True, slots=True)
class Person:
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


def personas_page(people: list[Person], folder: str, given: Mapping[str, Any], fault: str = "") -> str:
    """The list and the form of import.

    Args:
        people: whoever is known.
        folder: where they are kept.
        given: what was filled in before.
        fault: why that was refused.
    """
    return page(
        "Personas",
        element(
            "main",
            element("h1", "Personas"),
            element(
                "p",
                "A persona is read out of somebody's own texts. It argues from them, and every belief it holds "
                "opens to the sentence it came from.",
                class_="about",
            ),
            element("ol", [_row(person) for person in people], class_="runs picks people"),
            element("h2", "Import texts"),
            fault_note(fault),
            _import_form(given),
            element("p", f"Personas are kept in {folder}.", class_="legend"),
            id="content",
            class_="sheet",
        ),
        here="Personas",
    )


def persona_page(
    person: Person, story: Story | None, reachable: list[str], given: Mapping[str, Any], fault: str
) -> str:
    """One persona: what it came to, and the form to build it.

    Args:
        person: who.
        story: the persona in full, where it is built.
        reachable: hosted providers that have a key.
        given: what was filled in before.
        fault: why that was refused.
    """
    told = [
        element("section", element("h2", section.heading), [block_html(block) for block in section.blocks])
        for section in (story.sections if story else ())
    ]
    debate = element("a", "Let it debate", href=f"/new?protocol=crux&personas={person.id}", class_="primary")
    facts = (
        element("dl", [_fact(fact.label, fact.value) for fact in story.facts], class_="facts") if story else None
    )
    return page(
        person.name,
        element(
            "main",
            element("p", element("a", "Personas", href="/personas"), class_="back"),
            element("div", element("h1", person.name), debate if person.ready else None, class_="title"),
            element("p", person.problem, class_="note bad", dir="auto") if person.problem else None,
            fault_note(fault),
            _build_form(person, reachable, given) if person.own else _shipped(),
            facts,
            told,
            id="content",
            class_="sheet wider",
        ),
        here="Personas",
    )


def _row(person: Person) -> Element:
    beliefs = f"{several(person.beliefs, 'belief')}" if person.beliefs is not None else "no beliefs yet"
    return element(
        "li",
        element(
            "a",
            element("span", person.name, class_="what", dir="auto"),
            element(
                "span",
                element("span", several(person.texts, "text")),
                element("span", beliefs),
                element("span", person.problem or person.state, class_="tag bad" if person.problem else "tag"),
                class_="meta",
            ),
            href=f"/personas/{person.id}",
        ),
        class_="item",
    )


def _import_form(given: Mapping[str, Any]) -> Element:
    def value(name: str) -> str:
        return str(given.get(name) or "")

    return element(
        "form",
        labelled(
            "Whose texts they are",
            element("input", type="text", name="name", value=value("name"), dir="auto"),
            element("span", "May stay empty where the texts say so themselves.", class_="hint"),
        ),
        labelled(
            "Where they are, on this machine",
            element("input", type="text", name="path", value=value("path"), placeholder="~/essays"),
            element(
                "span",
                "A folder of Markdown, text or HTML, an RSS or Atom file, an X archive, or JSONL. A further import "
                "replaces what is there.",
                class_="hint",
            ),
        ),
        labelled(
            "Or one text, as it is",
            element("textarea", value("text"), name="text", rows="3", dir="auto", data_file=""),
            element("span", "Markdown; its first heading is its title.", class_="hint"),
        ),
        send("Import"),
        method="post",
        action="/personas",
        class_="fill",
    )


def _build_form(person: Person, reachable: list[str], given: Mapping[str, Any]) -> Element:
    words = "Build it" if person.state == "not built" else "Build it anew"
    about = (
        "About nine calls for the contract, and one for each passage that is read for beliefs. What was asked once "
        "is kept and not asked again."
    )
    return element(
        "form",
        element("p", about, class_="about") if person.state != "built" else None,
        terms_fields(given, reachable, opened=not reachable),
        send(words),
        method="post",
        action=f"/personas/{person.id}/build",
        class_="fill",
    )


def _shipped() -> Element:
    return element("p", "An invented author that comes with Assay: the essays were written for it.", class_="about")


def _fact(label: str, value: str) -> Element:
    return element("div", element("dt", label), element("dd", value))
