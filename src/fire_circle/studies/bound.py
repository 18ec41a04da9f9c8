"""What a study may take at the most, before anybody is asked."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import Any

from fire_circle.measurement.power import Power, lift_power
from fire_circle.rounds import most_rounds
from fire_circle.studies.folder import Manifest, StudyFolder
from fire_circle.studies.passes import Passes, finished_controls
from fire_circle.study import Study, StudyPlan, plan_study
from llm_runtime.pricing import PriceTable
from llm_runtime.structs import Struct


class Bound(Struct):
    """The most that each pass may take; the control's is that of round 1, times the number of rounds."""

    passes: tuple[tuple[str, StudyPlan], ...]
    power: Power | None = None

    @property
    def calls(self) -> int:
        """All passes together, every answer asked for a second time."""
        return sum(plan.calls for _, plan in self.passes)

    @property
    def cost(self) -> int | None:
        """Micro-dollars; ``None`` where a price is unknown."""
        costs = [plan.cost for _, plan in self.passes]
        return None if None in costs else sum(cost or 0 for cost in costs)

    def data(self) -> dict[str, Any]:
        """Return it for ``--json``."""
        return {
            "calls_at_most": self.calls,
            "cost_usd_at_most": None if self.cost is None else self.cost / 1_000_000,
            **({"power": asdict(self.power)} if self.power else {}),
            "passes": {name: plan.model_dump(mode="json") for name, plan in self.passes},
        }


def bound_of(
    folder: StudyFolder, manifest: Manifest, measures: frozenset[str], prices: PriceTable, model: str | None = None
) -> Bound:
    """Return the bound of a study whose items stand in ``folder``.

    Args:
        model: answers in place of every seat's own, where it is set.

    Raises:
        DataError: a row does not fit.
    """
    plans: list[tuple[str, StudyPlan]] = []
    for name, study in Passes(folder, manifest, measures).prepare().items():
        if model is not None:
            seats = (model,) * len(study.config.models)
            study = replace(study, config=study.config.model_copy(update={"models": seats}))
        plans.append((name, plan_study(study, prices)))
        if name == "circle" and "control" in measures:
            plans.append(("control", _control(folder, study, prices)))
    return Bound(tuple(plans), planned_power(folder, manifest, measures))


def planned_power(folder: StudyFolder, manifest: Manifest, measures: frozenset[str]) -> Power | None:
    """Return how often a study of these items finds a lift; ``None`` where nobody looks, or all labels are alike.

    Raises:
        DataError: a row does not fit.
    """
    labels = [item.label for _, item in folder.study(manifest).items()] if "lift" in measures else []
    violations, benign = labels.count(True), labels.count(False)
    return lift_power(violations, benign, control="control" in measures) if violations and benign else None


def _control(folder: StudyFolder, study: Study, prices: PriceTable) -> StudyPlan:
    config = study.config.model_copy(update={"max_rounds": 1})
    plan = plan_study(replace(study, config=config, out=folder.file("nothing-yet.jsonl")), prices)
    rounds = most_rounds(study.config)
    once = plan.model_dump(include={"calls", "input_tokens", "output_tokens", "cost"}, exclude_none=True)
    often = {name: amount * rounds for name, amount in once.items()}
    return plan.model_copy(update={**often, "finished": len(finished_controls(folder))})
