"""What the phases and states of a build are called, and what each is for, as ``words.toml`` has it."""

from __future__ import annotations

import tomllib
from importlib import resources

from criticality.machine.states import PHASES

_WORDS = tomllib.loads(resources.files(__package__ or "").joinpath("words.toml").read_text(encoding="utf-8"))
PHASE_NAMES: dict[str, str] = _WORDS["phases"]
PURPOSES: dict[str, str] = _WORDS["purposes"]
STATES: dict[str, dict[str, str]] = _WORDS["states"]
TIERS: dict[str, str] = _WORDS["tiers"]
AUDITORS: dict[str, str] = _WORDS["auditors"]


def place_name(place: str) -> str:
    """``"injection.verifying"`` for people: ``"Injection, verify"``."""
    phase, _, state = place.partition(".")
    if phase not in PHASES:
        return {"blocked": "waiting for a decision", "completed": "finished"}.get(phase, phase)
    return f"{PHASE_NAMES[phase]}, {STATES[phase].get(state, state)}"
