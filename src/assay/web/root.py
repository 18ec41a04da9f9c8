"""Where a browser finds the pages of this launch: below a path that nobody else can know, or at the root."""

from __future__ import annotations

from contextvars import ContextVar

ROOT: ContextVar[str] = ContextVar("root", default="")
"""The path that the request under way came by; empty for a program, which sends the token."""


def rooted(address: str = "") -> str:
    """Return an address of the application, such as ``"/runs"``, as whoever asks now has to ask for it."""
    return ROOT.get() + address
