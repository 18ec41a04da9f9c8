"""Crucible: answers that survived a council of language models and its red team.

::

    council = Council(EngineConfig(openrouter_api_key="sk-or-..."))
    result = await council.run("Should we migrate to microservices?")
    print(result.final_response, headline(result.ledger))

:class:`Crucible` is the same in prose, as it was specified. A review is ``run(..., material=changed("main"),
kind="review")``; ``checked`` finds the places of its findings.

These names are all there is to use; everything below the package root is an implementation detail.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from crucible.config import ComplexityDomain, CouncilRole, DeltaStrategy, EngineConfig, LoopGrammar, RedTeamFlavor
from crucible.council import Council, CouncilResult
from crucible.engine import Crucible
from crucible.ledger import Ledger, headline
from crucible.material import Attachment
from crucible.schemas import ExecutorResult

if TYPE_CHECKING:
    from crucible.attaching import read_attachments
    from crucible.changes import changed
    from crucible.following import earlier_council
    from crucible.reviewing import checked

#: What most councils do without, and what takes time to import.
_HOME = {
    "changed": "changes", "checked": "reviewing", "earlier_council": "following", "read_attachments": "attaching",
}  # fmt: skip

__all__ = [
    "Attachment", "ComplexityDomain", "Council", "CouncilResult", "CouncilRole", "Crucible", "DeltaStrategy",
    "EngineConfig", "ExecutorResult", "Ledger", "LoopGrammar", "RedTeamFlavor", "changed", "checked",
    "earlier_council", "headline", "read_attachments",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    """Load a public name when it is first used."""
    if name not in _HOME:
        raise AttributeError(f"module 'crucible' has no attribute {name!r}")
    return getattr(import_module(f"crucible.{_HOME[name]}"), name)
