"""What the phases and states of a build are called, and what each is for, as ``words.toml`` has it."""

from __future__ import annotations

from criticality.machine.states import PHASES
from llm_runtime.toml import own_table

_WORDS = own_table(__package__ or "", "words.toml")
PHASE_NAMES: dict[str, str] = _WORDS["phases"]
PURPOSES: dict[str, str] = _WORDS["purposes"]
STATES: dict[str, dict[str, str]] = _WORDS["states"]
TIERS: dict[str, str] = _WORDS["tiers"]
AUDITORS: dict[str, str] = _WORDS["auditors"]
INTERVIEW: dict[str, str] = _WORDS["interview"]
FEATURES: dict[str, str] = _WORDS["features"]
DECISIONS: dict[str, str] = _WORDS["decisions"]
LINES: dict[str, str] = _WORDS["lines"]
DELEGATION: dict[str, str] = _WORDS["delegation"]


def place_name(place: str) -> str:
    """``"injection.verifying"`` for people: ``"Injection, verify"``."""
    phase, _, state = place.partition(".")
    if phase not in PHASES:
        return {"blocked": "waiting for a decision", "completed": "finished"}.get(phase, phase)
    return f"{PHASE_NAMES[phase]}, {STATES[phase].get(state, state)}"
