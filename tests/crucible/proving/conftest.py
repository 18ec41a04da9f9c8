"""Gives each test a shop of its own."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.crucible.proving.shop import Shop


@pytest.fixture
def shop(tmp_path: Path) -> Shop:
    """The shop, in Git."""
    return Shop(tmp_path / "checkout")
