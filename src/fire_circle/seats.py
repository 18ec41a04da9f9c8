"""The seats of a circle and what they are called."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from llm_runtime.structs import Struct


class Seat(Struct):
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
    return _seats(models, [f"{n}:{model}" + (f"@{layer}" if layer else "") for n, model in enumerate(models, 1)])


def labelled(labels: Sequence[str], layer: str) -> tuple[Seat, ...]:
    """Return the seats that have these labels, as a log has them."""
    return _seats([label.partition(":")[2].removesuffix(f"@{layer}") or label for label in labels], labels)


def _seats(models: Sequence[str], labels: Sequence[str]) -> tuple[Seat, ...]:
    seen: Counter[str] = Counter()
    seats: list[Seat] = []
    for index, (model, label) in enumerate(zip(models, labels, strict=True), start=1):
        seen[model] += 1
        name = model if seen[model] == 1 else f"{model}#{seen[model]}"
        seats.append(Seat(index, model, name, label, f"judge {chr(ord('A') + index - 1)}"))
    return tuple(seats)
