"""The empty chair: who speaks for the absent in a round, and what that added (FC12, FC20)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path

from fire_circle.config import CircleConfigurationError
from fire_circle.patterns import Sighting, sightings
from fire_circle.results import DialogueRound
from fire_circle.seats import Seat
from llm_runtime.prompts import Prompt, load_prompt

PERFORMATIVE = 0.10
"""Below this influence the chair gives no perspective of substance (FC20)."""
SUITE_FLOOR = 0.05
"""Below this mean influence over a suite the chair does not work (FC20)."""


def get_empty_chair_model(round_number: int, models: Sequence[str]) -> str | None:
    """Return nobody in round 1, then ``models[(round_number - 1) % len(models)]``."""
    return None if round_number == 1 else models[(round_number - 1) % len(models)]


def choose_chair(
    round_number: int, seats: Sequence[Seat], present: Collection[Seat], previous: Seat | None, *, rotation: bool = True
) -> Seat | None:
    """Choose who takes the chair; ``None`` in round 1 (FC12).

    The specified rotation over the original seats. A seat that has left, or that was the chair last time, is
    passed over for the next one. Without rotation the chair of round 2 stays for as long as it is present.
    """
    if round_number == 1:
        return None
    if not rotation and previous is not None and previous in present:
        return previous
    start = (round_number - 1) % len(seats)
    fresh = [seat for seat in [*seats[start:], *seats[:start]] if seat in present and seat != previous]
    return fresh[0] if fresh else None


def charge(prompt_path: str | None) -> Prompt:
    """Return the chair's own template, or the one that takes its place.

    Raises:
        CircleConfigurationError: the file is not readable, or does not hold ``{{ polarity }}`` and only that.
    """
    if prompt_path is None:
        return load_prompt("fire_circle", "empty_chair")
    try:
        prompt = Prompt(prompt_path, Path(prompt_path).read_text(encoding="utf-8").strip())
    except (OSError, UnicodeDecodeError) as fault:
        raise CircleConfigurationError(f"empty_chair_prompt_path: cannot read {prompt_path}: {fault}") from None
    if prompt.placeholders != frozenset({"polarity"}):
        raise CircleConfigurationError(
            f"empty_chair_prompt_path: {prompt_path} must hold the placeholder {{{{ polarity }}}}, and no other"
        )
    return prompt


def calculate_empty_chair_influence(
    dialogue_history: Sequence[DialogueRound],
    empty_chair_models: Mapping[int, str] | None = None,
    active_models: Collection[str] | None = None,
) -> float:
    """Return the chair's share of the verified pattern types, 0.0 to 1.0; 0.0 without patterns.

    A type is the chair's where the chair of a round was the first to see it; seats that first see it in the same
    round share the credit equally, whereas the specification gave it to whoever came first in a list. A cluster of
    unclassified patterns counts as a type.

    Args:
        empty_chair_models: chair by round; read from the history where left out.
        active_models: whose sightings count; all seats' where left out.
    """
    return _mean(_credits(dialogue_history, empty_chair_models, active_models).values())


def influence_by_round(
    dialogue_history: Sequence[DialogueRound], active_models: Collection[str] | None = None
) -> dict[int, float]:
    """Return the same share among the types that each round was the first to see."""
    credit = _credits(dialogue_history, None, active_models)
    return {
        dialogue_round.round_number: _mean(
            share for (_, first), share in credit.items() if first == dialogue_round.round_number
        )
        for dialogue_round in dialogue_history
    }


def _credits(
    history: Sequence[DialogueRound], chairs: Mapping[int, str] | None, active_models: Collection[str] | None
) -> dict[tuple[str, int], float]:
    if chairs is None:
        chairs = {r.round_number: r.empty_chair_model for r in history if r.empty_chair_model is not None}
    first: dict[str, list[Sighting]] = {}
    for sighting in sightings(history, active_models):
        known = first.setdefault(sighting.key, [])
        if not known or known[0].round_number == sighting.round_number:
            known.append(sighting)
    credit: dict[tuple[str, int], float] = {}
    for key, seen in first.items():
        number = seen[0].round_number
        observers = {sighting.model for sighting in seen}
        credit[key, number] = 1 / len(observers) if chairs.get(number) in observers else 0.0
    return credit


def _mean(shares: Iterable[float]) -> float:
    values = list(shares)
    return sum(values) / len(values) if values else 0.0
