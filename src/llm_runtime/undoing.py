"""What was begun is undone where it cannot be brought to its end."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import ParamSpec

P = ParamSpec("P")


@contextmanager
def undone(undo: Callable[P, object], *args: P.args, **named: P.kwargs) -> Generator[None]:
    """Call ``undo`` where the ``with`` block raises anything, or is cancelled; the error goes on."""
    try:
        yield
    except BaseException:
        undo(*args, **named)
        raise
