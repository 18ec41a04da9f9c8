"""Which clock a test waits on."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest
from tests.virtual_time import HastenedClock


def pytest_asyncio_loop_factories(item: pytest.Item) -> dict[str, Callable[[], asyncio.AbstractEventLoop]]:
    """Return the loop of a test: one whose waits are short, where the mark ``hastened`` asks for it."""
    return {"loop": HastenedClock if item.get_closest_marker("hastened") else asyncio.new_event_loop}
