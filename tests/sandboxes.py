"""Every sandbox that this machine has: what is asked of one is asked of all."""

from __future__ import annotations

import asyncio

import pytest

import sandbox
from sandbox import NoIsolation

ALL = ("bubblewrap", "podman", "docker")


def usable(name: object) -> str:
    """Return the name of a backend; skip where it gives no box, with its reason."""
    try:
        asyncio.run(sandbox.probe(by=str(name)))
    except NoIsolation as reason:
        pytest.skip(f"{name}: {reason}")
    return str(name)
