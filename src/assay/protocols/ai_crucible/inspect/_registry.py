"""What Inspect finds by entry point: a council as model and solver, a circle as scorer. Light until one is used."""

from __future__ import annotations

from typing import Literal

from inspect_ai.model import ModelAPI, modelapi
from inspect_ai.scorer import Scorer, mean, scorer, stderr
from inspect_ai.solver import Solver, solver

from assay.protocol import load

__all__ = ["assay", "best_of_n", "circle", "council", "self_consistency"]

_SOLVING = "assay.protocols.compare.inspecting:solving"


@modelapi(name="assay")
def assay() -> type[ModelAPI]:
    """``--model assay/crucible``: a council answers."""
    from assay.protocols.ai_crucible.inspect.council import CouncilAPI

    return CouncilAPI


@solver
def council(seed: int | None = None) -> Solver:
    """``--solver assay/council``: a council with a red team, the evaluated model in every seat."""
    return load(_SOLVING)("council", seed=seed)


@solver
def self_consistency(samples: int = 5, like: str = "", vote: bool = True, seed: int | None = None) -> Solver:
    """``--solver assay/self_consistency -S like=LOG``: the majority of samples that cost what LOG's samples did."""
    return load(_SOLVING)("self-consistency", samples=samples, like=like, vote=vote, seed=seed)


@solver
def best_of_n(samples: int = 5, like: str = "", seed: int | None = None) -> Solver:
    """``--solver assay/best_of_n -S like=LOG``: the best of such samples, as a judge chooses."""
    return load(_SOLVING)("best-of-n", samples=samples, like=like, seed=seed)


@scorer(metrics={"*": [mean(), stderr()]})
def circle(
    models: list[str] | None = None, judge: Literal["answer", "prompt"] = "answer", rounds: int = 3, policy: str = ""
) -> Scorer:
    """``inspect score LOG --scorer assay/circle``: a circle of models judges what was answered, or the prompt."""
    return load("assay.protocols.fire_circle.inspecting:judging")(models or (), judge, rounds, policy)
