"""What seats are called in what models are shown: letters, drawn for each run. Roles draw attacks on roles."""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import dataclass, field


@dataclass(slots=True)
class Lettering:
    """How the seats of a run are called: known once triage has answered.

    Args:
        seed: the run's.
        names: of the deliberating seats by their labels, ``{"0:pragmatist": "B"}``.
        drawn: whether positions may change places; a draft that is passed on keeps its order.
    """

    seed: int
    names: dict[str, str] = field(default_factory=dict[str, str])
    drawn: bool = True

    @classmethod
    def of(cls, labels: Iterable[str], grammar: str, seed: int, first: str = "A") -> Lettering:
        """Return the letters of the deliberating seats from ``first`` on, the same at every look."""
        order, drawn = list(labels), grammar != "sequential"
        if drawn:
            random.Random(f"{seed}|letters").shuffle(order)
        return cls(seed, {label: chr(ord(first) + number) for number, label in enumerate(order)}, drawn)
