"""The sandboxes of this machine."""

from __future__ import annotations

import pytest
from tests.sandboxes import ALL, usable


@pytest.fixture(scope="session", params=ALL)
def boxes(request: pytest.FixtureRequest) -> str:
    """The name of a backend; skips where it gives no box, with its reason."""
    return usable(request.param)
