"""The libraries of the extra ``debate``: imported when something first needs them, never before."""

from __future__ import annotations

import importlib
from typing import Any

from llm_runtime.extras import needing


def library(module: str, feature: str) -> Any:
    """Return an optional module.

    Args:
        module: its full name, ``"sentencex"``.
        feature: what needs it, in words for the one line that a user without it gets.

    Raises:
        MissingExtraError: it is not installed.
    """
    with needing(feature, "debate"):
        return importlib.import_module(module)
