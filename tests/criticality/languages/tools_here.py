"""What a test of a language's tools begins with: it is skipped, with the reason, where they are not here."""

from __future__ import annotations

import pytest

from criticality.languages import language
from criticality.languages.base.toolchain.dependencies import NotInstallable


async def require(name: str) -> None:
    """Skip the test unless a language's programs are here and its packages can be installed."""
    target = language(name)
    missing = [f"{fact.name}: {fact.get}" for fact in target.facts() if fact.needed and not fact.version]
    if missing:
        pytest.skip("; ".join(missing))
    pinned = target.tools.pinned()
    try:
        if pinned is not None:
            await pinned.ensure()
    except NotInstallable as refused:
        pytest.skip(str(refused))
