"""Crux: from a shelf of essays to crux cards: why people disagree, and what would change their minds.

::

    personas = [store.load("Maud Tarrowby"), store.load("Ilario Fennimast")]
    async for event in run_debate("Should software decide who waits?", personas, generate=model, seed=7):
        print(event.type)

A :class:`Debate` gives the same events and, at any time, the result. Personas are made in :mod:`crux.personas`;
what several debates have in common is in :mod:`crux.insight`; how well it works, in :mod:`crux.measurement`.
"""

from crux.building import build_persona
from crux.config import CruxConfigurationError, DebateConfig, Model, ModelTable, TaskSettings
from crux.debate import Debate, run_debate
from crux.personas import Persona, PersonaStore, import_corpus
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
    "CardNotes",
    "CruxCard",
    "CruxConfigurationError",
    "CruxMessage",
    "Debate",
    "DebateAspect",
    "DebateConfig",
    "DebateResult",
    "DialogueMessage",
    "DisagreementCandidate",
    "Evidence",
    "LedgerEntry",
    "Model",
    "ModelTable",
    "Persona",
    "PersonaPosition",
    "PersonaStore",
    "Place",
    "PositionShift",
    "TaskSettings",
    "TrackedStance",
    "build_persona",
    "import_corpus",
    "run_debate",
]
