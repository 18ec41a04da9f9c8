"""Modules that take long to load, loaded when a test first uses them: whoever collects need not load them all."""

from __future__ import annotations

import importlib
from importlib.util import find_spec
from typing import Any

import pytest


def needs(name: str, reason: str) -> None:
    """Skip the tests of the module that says so, where a top-level module is not installed."""
    if find_spec(name) is None:
        pytest.skip(reason, allow_module_level=True)


class Lazily:
    """A module, loaded at the first attribute that is asked for."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, attribute: str) -> Any:
        # pytest looks whether what stands in a module is a test or a fixture.
        if attribute.startswith("_") or attribute == "is_hypothesis_test":
            raise AttributeError(attribute)
        return getattr(importlib.import_module(self._name), attribute)
