"""Crux: from a shelf of essays to crux cards: why people disagree, and what would change their minds.

::

    personas = [store.load("Maud Tarrowby"), store.load("Ilario Fennimast")]
    debate = Debate("Should software decide who waits?", personas, generate=model, seed=7)
    async for event in debate.events():
        print(event.type)

:meth:`Debate.result` says what there is, at any time. Personas are made in :mod:`crux.personas`;
what several debates have in common is in :mod:`crux.insight`; how well it works, in :mod:`crux.measurement`.
"""

from crux.book import ClaimBook, SignedClaim
from crux.building import build_persona
from crux.config import ChosenModel, CruxConfigurationError, DebateConfig, ModelTable, TaskSettings
from crux.debate import Debate
from crux.personas.importing import import_corpus
from crux.personas.persona import Persona
from crux.personas.store import PersonaStore
from crux.results import (
    CardNotes,
    CruxCard,
    CruxMessage,
    DebateAspect,
    DebateResult,
    DialogueMessage,
    DisagreementCandidate,
    LedgerEntry,
    PersonaPosition,
    Place,
    PositionShift,
    TrackedStance,
)
from crux.transcript import Evidence

__all__ = [
    "CardNotes", "ChosenModel", "ClaimBook", "CruxCard", "CruxConfigurationError", "CruxMessage", "Debate",
    "DebateAspect", "DebateConfig", "DebateResult", "DialogueMessage", "DisagreementCandidate", "Evidence",
    "LedgerEntry", "ModelTable", "Persona", "PersonaPosition", "PersonaStore", "Place", "PositionShift",
    "SignedClaim", "TaskSettings", "TrackedStance", "build_persona", "import_corpus",
]  # fmt: skip
