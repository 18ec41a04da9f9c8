"""What a comparison emits."""

from __future__ import annotations

from typing import Any

from llm_runtime.events import Event


class MethodAnswered(Event, type="compare.answered"):
    """A method is done with a task; ``row`` is :class:`assay.protocols.compare.figures.Row` as data."""

    row: dict[str, Any]
