"""What a run of proofs says while it works; what a box answered stands in the log as the answer of a call."""

from __future__ import annotations

from typing import Any

from llm_runtime.events import Event


class FindingProven(Event, type="proof.ended"):
    """A finding is done with; ``proven`` is :class:`crucible.proving.prover.Proven` as data.

    Args:
        number: its place among the findings, from 1, the gravest first.
        verdict: what was shown.
        title: the finding's.
    """

    number: int
    verdict: str
    title: str
    proven: dict[str, Any]
