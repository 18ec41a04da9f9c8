"""Every sandbox that this machine has: what is asked of one is asked of all."""

from __future__ import annotations

import asyncio

import pytest

import sandbox
from sandbox import NoIsolation


@pytest.fixture(scope="session", params=["bubblewrap", "podman", "docker"])
def boxes(request: pytest.FixtureRequest) -> str:
    """The name of a backend; skips where it gives no box, with its reason."""
    name = str(request.param)
    try:
        asyncio.run(sandbox.probe(by=name))
    except NoIsolation as reason:
        pytest.skip(f"{name}: {reason}")
    return name
