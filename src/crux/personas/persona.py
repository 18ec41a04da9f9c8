"""A persona: contract, corpus and belief graph of one person, ready to sit on a panel."""

from __future__ import annotations

import re
from functools import cached_property

from crux.config import CruxConfigurationError
from crux.personas.beliefs import BeliefGraph
from crux.personas.contract import PersonaContract
from crux.personas.corpus import Corpus
from crux.results import CamelModel
from crux.sources.talk import LETTERS

_NAME = re.compile(rf"[^\W_][{LETTERS} .,'’&-]{{0,79}}")
_PARTICLES = "mr mrs ms dr prof sir lady lord the of de van von da di la le and"
_TITLES = frozenset(_PARTICLES.split())


class PersonaError(CruxConfigurationError):
    """A persona is missing or cannot be used; one line. Exit code 2."""


class Persona(CamelModel):
    """One person.

    Args:
        beliefs: None where the texts gave no graph; such a persona argues from passages alone.
    """

    contract: PersonaContract
    corpus: Corpus
    beliefs: BeliefGraph | None = None

    @property
    def id(self) -> str:
        """The slug."""
        return self.contract.persona_id

    @property
    def name(self) -> str:
        """As people and events know the person."""
        return self.contract.name

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Everything that would give the person away in a text: full name, handle, aliases, each name alone."""
        whole = [self.name, self.contract.handle, *self.contract.aliases, self.id]
        parts = [part.strip(".,'’") for name in (self.name, *self.contract.aliases) for part in name.split()]
        alone = [part for part in parts if len(part) > 2 and part[0].isupper() and part.lower() not in _TITLES]
        return tuple(sorted(dict.fromkeys(name for name in (*whole, *alone) if name), key=len, reverse=True))


def check_name(name: str) -> str:
    """Check that a name can be shown, spoken and be part of a file's name; return it.

    Raises:
        PersonaError: it cannot.
    """
    name = " ".join(name.split())
    if not _NAME.fullmatch(name) or ".." in name:
        raise PersonaError(
            f"{ascii(name)[:60]} cannot be a persona's name: letters, digits, spaces and . , ' - & only, at most 80"
        )
    return name


def slug(name: str) -> str:
    """Return a name as an id: lower-case letters and digits with single hyphens.

    Raises:
        PersonaError: nothing is left.
    """
    text = re.sub(rf"[^{LETTERS}]+|_", "-", name.casefold()).strip("-")
    if not text:
        raise PersonaError(f"{ascii(name)[:60]} leaves no id; use letters")
    return text
