"""The number of what circles ask, and what each number changed.

2: judges are told of attacks beside the eight kinds.
3: trust is told only where it was measured.
"""

from __future__ import annotations

from llm_runtime.behaviour import Behaviour

BEHAVIOUR = Behaviour(
    "fire_circle", number=3, packages=("fire_circle", "assay.protocols.fire_circle"), unnumbered=3
)
