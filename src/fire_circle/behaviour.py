"""The number of what circles ask, and what each number changed.

2: judges are told of attacks beside the eight kinds.
3: trust is told only where it was measured.
4: a transcript is records, each within a fence of its own; material is judged; an answer names its request, and its
verdict in a word before the reasons and behind them; judges say whether claims on earlier turns are borne out.
5: what guards answer is read in the forms of Qwen3Guard, Granite Guardian and WildGuard too, which settled nothing.
"""

from __future__ import annotations

from llm_runtime.behaviour import Behaviour

BEHAVIOUR = Behaviour("fire_circle", number=5, packages=("fire_circle", "assay.protocols.fire_circle"), unnumbered=3)
