"""Crucible: answers that survived a council of language models and its red team.

::

    engine = Crucible(config=EngineConfig(openrouter_api_key="sk-or-..."))
    result = await engine.run("Should we migrate to microservices?")
    print(result.final_response)

These names are all there is to use; everything below the package root is an implementation detail.
"""

from crucible.config import (
    ComplexityDomain,
    CouncilRole,
    DeltaStrategy,
    EngineConfig,
    LoopGrammar,
    RedTeamFlavor,
)
from crucible.council import Council, CouncilResult
from crucible.engine import Crucible
from crucible.ledger import Ledger, headline
from crucible.material import Attachment
from crucible.schemas import ExecutorResult

__all__ = [
    "Attachment",
    "ComplexityDomain",
    "Council",
    "CouncilResult",
    "CouncilRole",
    "Crucible",
    "DeltaStrategy",
    "EngineConfig",
    "ExecutorResult",
    "Ledger",
    "LoopGrammar",
    "RedTeamFlavor",
    "headline",
]
