"""The number of what councils ask, and what each number changed.

2: triage names lines of models, not releases.
3: objections are numbered and quote what they strike; a clerk writes a ledger, seats have letters.
4: a council of records stands beside the form in prose, which is as it was.
"""

from __future__ import annotations

from llm_runtime.behaviour import Behaviour

BEHAVIOUR = Behaviour("crucible", number=4, packages=("crucible", "assay.protocols.crucible"), unnumbered=3)
