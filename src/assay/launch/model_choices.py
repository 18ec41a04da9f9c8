"""The models that can be chosen here: named by the configuration, used lately, or listed by who serves them."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable, Mapping
from itertools import islice

from assay.launch.execution import price_of
from llm_runtime.dialects import HUMAN_PROVIDERS
from llm_runtime.errors import LlmRuntimeError
from llm_runtime.gateway import Gateway
from llm_runtime.price import Price
from llm_runtime.routing import Reachable
from llm_runtime.settings import Settings
from llm_runtime.structs import Struct

_FRESH_S = 60.0
_CHIPS = 6
_FOUND = 12
"""Models that a search returns."""
_OF_EACH = 2
"""Chips for the first models of each endpoint."""


class ModelChoice(Struct):
    """A model with what it costs and reads; ``None`` where that is not known."""

    name: str
    price: Price | None = None
    window: int | None = None
    note: str = ""


class Choices(Struct):
    """What can be chosen.

    Args:
        chips: the few that are likely.
        names: all of them.
        endpoints: who was asked, and how that went.
    """

    chips: tuple[ModelChoice, ...] = ()
    names: tuple[str, ...] = ()
    endpoints: tuple[Reachable, ...] = ()

    def of(self, name: str) -> ModelChoice | None:
        """Return a chip by its name."""
        return next((chip for chip in self.chips if chip.name == name), None)


class ModelChoices:
    """Asks every endpoint for its models, at most once a minute.

    Args:
        settings: reads the configuration.
    """

    def __init__(self, settings: Callable[[], Settings]) -> None:
        self._settings = settings
        self._asking: asyncio.Task[Choices] | None = None
        self._at = -_FRESH_S
        self.known = Choices()
        """What was known at the last look."""
        self.looked = False
        """Whether there was one."""

    def forget(self) -> None:
        """Look anew the next time: keys or endpoints have changed."""
        self._at = -_FRESH_S

    async def look(self, lately: Iterable[str] = (), patience: float | None = None) -> Choices:
        """Return what can be chosen now, or what was known before where that takes longer than somebody waits.

        Args:
            lately: models of the latest runs, newest first.
            patience: seconds to wait; ``None`` waits for all.
        """
        if self._asking is None and time.monotonic() - self._at > _FRESH_S:
            self._asking = asyncio.create_task(_choices(self._settings(), list(lately)), name="models")
        if self._asking is not None:
            await asyncio.wait({self._asking}, timeout=patience)
        if self._asking is not None and self._asking.done():
            asked, self._asking = self._asking, None
            self.known, self.looked, self._at = asked.result(), True, time.monotonic()
        return self.known

    async def search(self, words: str) -> tuple[ModelChoice, ...]:
        """Return the first models whose names hold all of the words, the likely ones before the others."""
        wanted, chips = words.lower().split(), self.known.chips
        names = dict.fromkeys((*(chip.name for chip in chips), *self.known.names))
        fitting = (name for name in names if all(word in name.lower() for word in wanted))
        async with Gateway(self._settings()) as gateway:
            return await _measured(gateway, islice(fitting, _FOUND), {chip.name: chip.note for chip in chips})

    def close(self) -> None:
        """Ask no further."""
        if self._asking is not None:
            self._asking.cancel()


async def _choices(settings: Settings, lately: list[str]) -> Choices:
    async with Gateway(settings) as gateway:
        endpoints = await gateway.router.reachable()
        names = [name for entry in endpoints for name in entry.names]
        usual = settings.config.model or ""
        notes = {usual: "your default"} if usual else {}
        notes |= {name: "used lately" for name in lately if _may_be_asked(name, names, notes)}
        notes |= {name: "" for entry in endpoints for name in entry.names[:_OF_EACH]} | notes
        listed = sorted(notes, key=lambda name: ("your default", "used lately", "").index(notes[name]))[:_CHIPS]
        return Choices(await _measured(gateway, listed, notes), tuple(names), tuple(endpoints))


async def _measured(gateway: Gateway, names: Iterable[str], notes: Mapping[str, str]) -> tuple[ModelChoice, ...]:
    """Return models with what they cost and read, and why each is offered."""
    names = tuple(names)
    found = zip(names, await asyncio.gather(*(_window(gateway, name) for name in names)), strict=True)
    return tuple(
        ModelChoice(name, price_of(gateway.settings, name), window, notes.get(name, "")) for name, window in found
    )


def _may_be_asked(name: str, names: list[str], noted: dict[str, str]) -> bool:
    return name in names and name not in noted and name.partition(":")[0] not in HUMAN_PROVIDERS


async def _window(gateway: Gateway, name: str) -> int | None:
    try:
        return (await gateway.capacity(await gateway.router.resolve(name, named=True))).window
    except LlmRuntimeError:
        return None
