"""The number of what debates ask, and what each number changed."""

from __future__ import annotations

from llm_runtime.behaviour import Behaviour

BEHAVIOUR = Behaviour("crux", number=1, packages=("crux", "assay.protocols.crux"))
