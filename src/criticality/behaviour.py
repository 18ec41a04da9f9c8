"""The number of what builds and adoptions ask, and what each number changed.

2: a page of grammar stands in every prompt that asks for predicates. 3: adopted functions may take and give objects.
4: classes may too, and what is made may name the package; an error that a proposal names, or that a broken promise
speaks of, is allowed.
"""

from __future__ import annotations

from llm_runtime.behaviour import Behaviour

BEHAVIOUR = Behaviour("criticality", number=4, packages=("criticality", "assay.protocols.criticality"))
