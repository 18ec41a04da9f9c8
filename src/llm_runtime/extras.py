"""Imports what an optional part brings, and says in one line how to get it where it is not here."""

from __future__ import annotations

import sys
from collections.abc import Generator
from contextlib import contextmanager

from llm_runtime.errors import MissingExtraError


@contextmanager
def needing(feature: str, extra: str) -> Generator[None]:
    """Import in its block what a feature takes from an extra.

    Raises:
        MissingExtraError: it is not installed.
    """
    try:
        yield
    except ImportError as fault:
        # Where the package itself is here, a module of it that is not is a fault, and no missing part.
        if sys.modules.get((fault.name or "").partition(".")[0]):
            raise
        raise MissingExtraError(feature, extra) from None
