"""An error of ours in place of what a library or a lower floor raised: one sentence, and no traceback of theirs."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

from llm_runtime.errors import ConfigurationError


@contextmanager
def reworded(
    what: str, *causes: type[Exception], kind: type[Exception] = ConfigurationError, then: str = ""
) -> Generator[None]:
    """Begin the sentence of another's error with our words: ``WHAT: its words``.

    Args:
        what: the beginning; empty where its own words say enough.
        causes: the classes of errors that are meant; others pass.
        kind: the error that is raised.
        then: the end of the sentence.
    """
    try:
        yield
    except causes as fault:
        raise kind(f"{what}: {fault}{then}" if what else f"{fault}{then}") from None


@contextmanager
def instead(error: Exception, *causes: type[Exception]) -> Generator[None]:
    """Raise an error of ours where one of these classes is raised, whose own words help nobody."""
    try:
        yield
    except causes:
        raise error from None
