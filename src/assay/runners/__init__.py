"""How each protocol is run from the first event of its log: one module a protocol."""

from __future__ import annotations

import importlib
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, TypeAlias

from llm_runtime.errors import ConfigurationError

if TYPE_CHECKING:
    from llm_runtime.events import Emit, RunStarted
    from llm_runtime.messages import Generate

Runner: TypeAlias = "Callable[[RunStarted, Generate, Emit], Awaitable[dict[str, Any]]]"
"""Runs a protocol from the first event of a run to its result as data."""

#: Protocols that this version can run, each with the module that holds its ``run``.
RUNNERS = {
    "ai_crucible": "assay.protocols.ai_crucible.attempt",
    "compare": "assay.protocols.compare.task",
    "criticality": "assay.protocols.criticality.task",
    "crucible": "assay.protocols.crucible.task",
    "crux": "assay.protocols.crux.task",
    "fire_circle": "assay.protocols.fire_circle.task",
    "persona": "assay.protocols.crux.persona",
    "trial": "assay.protocols.ai_crucible.task",
}

#: Protocols whose runs work on something outside their log, a folder above all: a copy of the log is no copy of it.
BOUND = frozenset({"criticality", "persona", "trial"})


def runner(protocol: str) -> Runner:
    """The runner of a protocol, loaded when first named.

    Raises:
        ConfigurationError: this version knows no such protocol.
    """
    if protocol not in RUNNERS:
        raise ConfigurationError(f"this version runs no protocol called {protocol}; it runs: {', '.join(RUNNERS)}")
    return importlib.import_module(RUNNERS[protocol]).run


def require_unbound(protocol: str) -> None:
    """Refuse to fork or replay what works on something outside its log.

    Raises:
        ConfigurationError: the protocol does.
    """
    if protocol in BOUND:
        raise ConfigurationError(
            f"a run of {protocol} works on a folder, so its log alone cannot be forked or replayed; copy the "
            "folder and start from it"
        )
