"""Personas: from a shelf of texts to somebody who can sit on a panel."""

from crux.personas.answers import Answers
from crux.personas.beliefs import BeliefEdge, BeliefGraph, BeliefNode
from crux.personas.contract import FlipCondition, PersonaContract, VoiceProfile
from crux.personas.corpus import Corpus, CorpusItem, make_corpus, shared_texts
from crux.personas.importing import Imported, import_corpus
from crux.personas.persona import Persona, PersonaError
from crux.personas.shipped import shipped_authors, shipped_corpus
from crux.personas.source import CorpusError
from crux.personas.store import PersonaStore, StoredCorpus, check_persona

__all__ = [
    "Answers",
    "BeliefEdge",
    "BeliefGraph",
    "BeliefNode",
    "Corpus",
    "CorpusError",
    "CorpusItem",
    "FlipCondition",
    "Imported",
    "Persona",
    "PersonaContract",
    "PersonaError",
    "PersonaStore",
    "StoredCorpus",
    "VoiceProfile",
    "check_persona",
    "import_corpus",
    "make_corpus",
    "shared_texts",
    "shipped_authors",
    "shipped_corpus",
]
