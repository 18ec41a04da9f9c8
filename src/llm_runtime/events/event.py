"""The event: one thing that happened in a run, said once, for the screen, the page, the report and the trace."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, ClassVar, TypeAlias

from pydantic import BaseModel, ConfigDict, ValidationError

from llm_runtime.canonical import canonical_json
from llm_runtime.errors import StoreDamaged
from llm_runtime.models import first_fault

_PLAIN = frozenset((str, int, bool, type(None)))


class Event(BaseModel):
    """Base of all events. A subclass names itself once: ``class Triaged(Event, type="crucible.triaged")``.

    Events hold structure and content, never clock times: the log stamps them. Avoid floats where an integer
    will do (micro-dollars, milliseconds); what is hashed should not depend on how a float prints.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", ser_json_inf_nan="strings", defer_build=True)

    type: ClassVar[str] = ""
    newer: ClassVar[tuple[str, ...]] = ()
    """Fields that older logs do not have: left out while they are ``None``."""
    _kinds: ClassVar[dict[str, type[Event]]] = {}

    def __init_subclass__(cls, *, type: str = "", **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if type:
            cls.type = type
            Event._kinds[type] = cls

    def payload(self) -> dict[str, Any]:
        """Return the event as JSON-compatible data, its type under ``"type"``."""
        fields = self.__dict__
        # What is plain already is not walked through once more: events of money and of calls come by the thousand.
        if not _PLAIN.issuperset(map(type, fields.values())):
            fields = self.model_dump(mode="json")
        data = {"type": self.type, **fields}
        for name in self.newer:
            if data[name] is None:
                del data[name]
        return data

    def canonical(self) -> bytes:
        """Return the payload in canonical JSON: what the log keeps and the chain is over."""
        return canonical_json(self.payload())


class UnknownEvent(Event):
    """An event of a protocol or version that this program does not know: kept as it is, shown as it is."""

    name: str
    data: dict[str, Any]

    def payload(self) -> dict[str, Any]:
        return {"type": self.name, **self.data}


def parse_event(payload: dict[str, Any]) -> Event:
    """Return the typed event for a payload; :class:`UnknownEvent` where its type is not known here.

    Raises:
        StoreDamaged: the type is known and the data does not fit it.
    """
    data = dict(payload)
    name = str(data.pop("type", ""))
    kind = Event._kinds.get(name)  # pyright: ignore[reportPrivateUsage]
    if kind is None:
        return UnknownEvent(name=name, data=data)
    try:
        return kind.model_validate(data)
    except ValidationError as fault:
        raise StoreDamaged(f"an event of type {name} does not fit: {first_fault(fault)}") from None


Emit: TypeAlias = Callable[[Event], Awaitable[None] | None]
"""Told of each event. Who has to know that it is on disk awaits what comes back, where something does."""


def silent(event: Event) -> None:
    """Drop an event: the :data:`Emit` of whoever does not listen."""


def tee(*sinks: Emit) -> Emit:
    """Return one :data:`Emit` that passes each event to all ``sinks``, in order; its answer is the first one's.

    Of none it is :func:`silent` itself, so that whoever has nobody to tell can see it.
    """
    sinks = tuple(sink for sink in sinks if sink is not silent)
    if not sinks:
        return silent
    if len(sinks) == 1:
        return sinks[0]

    def emit(event: Event) -> Awaitable[None] | None:
        return next(iter([sink(event) for sink in sinks]), None)

    return emit
