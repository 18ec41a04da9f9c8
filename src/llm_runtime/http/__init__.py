"""One HTTP client under every provider, and how it reads what others wrote: streams, failures, waits, secrets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from llm_runtime.http.client import Http

__all__ = ["Http"]


def __getattr__(name: str) -> Any:
    """Load the client when it is first used: most need no more than what reads an answer."""
    if name != "Http":
        raise AttributeError(f"module 'llm_runtime.http' has no attribute {name!r}")
    from llm_runtime.http.client import Http

    return Http
