"""Pairs whose answers are known: three in every batch tell how far a judge can be trusted."""

from __future__ import annotations

from functools import cache
from random import Random

from crux.results import CamelModel
from llm_runtime.toml import own_table

#: How many are in a batch, and how many are needed before a rate says something.
A_BATCH, ENOUGH = 3, 15
#: A judge with a smaller share of right answers is warned of.
TRUSTED = 0.9


class KnownPair(CamelModel):
    """A premise and a claim, and each verdict that an honest judge may give."""

    premise: str
    claim: str
    kinds: tuple[str, ...]


class JudgeTrial(CamelModel):
    """How a judge did on the pairs whose answers are known."""

    right: int = 0
    asked: int = 0

    def with_answer(self, right: bool) -> JudgeTrial:
        """Return the trial with one more pair."""
        return JudgeTrial(right=self.right + right, asked=self.asked + 1)

    def line(self) -> str:
        """Return the figure, and whether it is enough to tell anything."""
        few = ", too few to tell much" if self.asked < ENOUGH else ""
        return f"the judge was right on {self.right} of {self.asked} pairs with known answers{few}"

    @property
    def told(self) -> str:
        """A warning; empty where the judge did well, or was asked nothing."""
        poor = self.asked and self.right < TRUSTED * self.asked
        return f"{self.line()}: do not trust its verdicts, and take another model" if poor else ""


@cache
def _pairs() -> tuple[KnownPair, ...]:
    return tuple(KnownPair.model_validate(one) for one in own_table("crux.claims", "known.toml")["pair"])


def drawn(seed: int, label: str, beside: int) -> list[tuple[int, KnownPair]]:
    """Return the known pairs of a batch, each with its place among the others, the same for one seed and label.

    Args:
        beside: how many other pairs the batch has.
    """
    lot = Random(f"{seed}:{label}")
    return sorted(((lot.randint(0, beside), one) for one in lot.sample(_pairs(), A_BATCH)), key=lambda one: one[0])
