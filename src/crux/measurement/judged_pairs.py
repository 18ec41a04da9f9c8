"""How well the judge judges: verdicts against pairs that people judged."""

from __future__ import annotations

from collections.abc import Sequence

from crux.claims.judge import BEARING, Kind, Verdict
from crux.measurement.share import Share, share
from crux.results import CamelModel


class JudgeFigures(CamelModel):
    """Verdicts against the kinds that people gave.

    Args:
        right: exactly the kind that was given.
        same_precision: of the pairs that the judge calls the same, those that are.
        same_recall: of the pairs that are the same, those that it finds.
        contradiction_recall: of the pairs that contradict each other, those that it finds.
        bearing: of all pairs, those where it is right whether the premise speaks for the claim.
        unsure: pairs on which it gave no usable verdict.
    """

    right: Share
    same_precision: Share
    same_recall: Share
    contradiction_recall: Share
    bearing: Share
    unsure: int


def judge_figures(expected: Sequence[Kind], verdicts: Sequence[Verdict]) -> JudgeFigures:
    """Count; both in the same order.

    Raises:
        ValueError: there are more of the one than of the other.
    """
    both = [(kind, verdict.kind) for kind, verdict in zip(expected, verdicts, strict=True)]
    return JudgeFigures(
        right=share(kind == judged for kind, judged in both),
        same_precision=share(kind == "same" for kind, judged in both if judged == "same"),
        same_recall=share(judged == "same" for kind, judged in both if kind == "same"),
        contradiction_recall=share(judged == "contradicts" for kind, judged in both if kind == "contradicts"),
        bearing=share((kind in BEARING) == (judged in BEARING) for kind, judged in both),
        unsure=sum(judged == "unsure" for _, judged in both),
    )
