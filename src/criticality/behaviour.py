"""The number of what builds and adoptions ask, and what each number changed.

2: a page of grammar stands in every prompt that asks for predicates.
"""

from __future__ import annotations

from llm_runtime.behaviour import Behaviour

BEHAVIOUR = Behaviour("criticality", number=2, packages=("criticality", "assay.protocols.criticality"))
