"""The number of what trials ask, and what each number changed."""

from __future__ import annotations

from llm_runtime.behaviour import Behaviour

BEHAVIOUR = Behaviour("ai_crucible", number=1, packages=("ai_crucible", "assay.protocols.ai_crucible"))
