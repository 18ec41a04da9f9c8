"""The number of what builds ask, and what each number changed."""

from __future__ import annotations

from llm_runtime.behaviour import Behaviour

BEHAVIOUR = Behaviour("criticality", number=1, packages=("criticality", "assay.protocols.criticality"))
