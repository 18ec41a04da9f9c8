"""What a study says while it works; for displays only, never stored."""

from __future__ import annotations

from llm_runtime.events import Event


class PassesPlanned(Event, type="study.passes_planned"):
    """The passes ahead, in order: name, items in all, items finished before."""

    title: str
    passes: list[tuple[str, int, int]]


class PassStarted(Event, type="study.pass_started"):
    """One begins."""

    name: str


class CallAnswered(Event, type="study.call_answered"):
    """A model answered and has to be paid: micro-dollars, ``None`` where no price is known, and tokens."""

    cost: int | None
    tokens: int


class ItemFinished(Event, type="study.item_finished"):
    """An item has its result; ``fault`` says why it has no score."""

    name: str
    falsehood: float | None
    fault: str


class StudyEnded(Event, type="study.ended"):
    """There is nothing more to ask."""
