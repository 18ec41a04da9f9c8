"""The number of what circles ask, and what each number changed."""

from __future__ import annotations

from llm_runtime.behaviour import Behaviour

BEHAVIOUR = Behaviour("fire_circle", number=1, packages=("fire_circle", "assay.protocols.fire_circle"))
