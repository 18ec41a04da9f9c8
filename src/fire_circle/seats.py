"""The seats of a circle and what they are called."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Seat:
    """A place in the circle.

    Args:
        index: 1-based place in the configured models.
        model: the model id that is asked.
        name: what results call it: the model id, with ``#2``, ``#3`` where the model sits again (FC13).
        label: ``"INDEX:MODEL"``, the seat of a call's label; with ``@LAYER`` where a run has a circle a layer.
        voice: what the other seats know it by.
    """

    index: int
    model: str
    name: str
    label: str
    voice: str


def seat_circle(models: Sequence[str], layer: str = "") -> tuple[Seat, ...]:
    """Return one seat for each model, in order."""
    seen: Counter[str] = Counter()
    seats: list[Seat] = []
    for index, model in enumerate(models, start=1):
        seen[model] += 1
        name = model if seen[model] == 1 else f"{model}#{seen[model]}"
        label = f"{index}:{model}" + (f"@{layer}" if layer else "")
        seats.append(Seat(index, model, name, label, f"judge {chr(ord('A') + index - 1)}"))
    return tuple(seats)
