"""Models at the same attempts, each in a trial and a process of its own, until it is decided who is better.

Attempts are paired in an order that is drawn from the trial's id: every puzzle once, in the same order in each
round. Any beginning of it is thus a sample of the puzzles, and who answers faster changes nothing.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import combinations, starmap, takewhile
from typing import TYPE_CHECKING, Any, TypeAlias

from assay.protocol import RunContext
from assay.protocols.ai_crucible.child import check_end, make_trial
from assay.protocols.ai_crucible.events import AttemptEnded, AttemptTold, TrialBegan
from assay.protocols.ai_crucible.trials import Contestant, workshop
from llm_runtime.events import Emit
from llm_runtime.statistics.deciding import decided_after, e_value, pairs_p
from llm_runtime.statistics.proportions import PairedCounts
from llm_runtime.tasks import gather

if TYPE_CHECKING:
    from ai_crucible.attested import AttestedTrial
    from ai_crucible.events import TrialsCompared
    from ai_crucible.types import Puzzle
    from ai_crucible.workshop import Workshop

Place: TypeAlias = tuple[str, int]
"""A puzzle, and which attempt at it."""


@dataclass
class _Contest:
    """What is known of a comparison while it goes on.

    Args:
        models: by the id of each one's trial.
        places: the attempts that count, in the order in which they are compared.
        total: attempts of each, with those at anchors.
        early: whether it stops when it is decided.
        passed: by trial, attempts with a verdict.
        attempts: by trial, its attempts as their logs have them.
        stops: what ends each trial.
    """

    models: dict[str, str]
    places: list[Place]
    total: int
    early: bool
    emit: Emit
    passed: dict[str, dict[Place, bool]]
    attempts: dict[str, list[dict[str, Any]]] = field(default_factory=dict[str, list[dict[str, Any]]])
    stops: dict[str, asyncio.Event] = field(default_factory=dict[str, asyncio.Event])

    def in_order(self) -> list[dict[str, bool]]:
        """Return who passed, attempt by attempt, up to the first that not all have made."""
        made = takewhile(lambda at: all(at in own for own in self.passed.values()), self.places)
        return [{trial: own[at] for trial, own in self.passed.items()} for at in made]

    @property
    def over(self) -> bool:
        """Whether no further attempt is to be made."""
        return self.early and decided_after(self.in_order(), list(self.models)) > 0

    def take(self, trial: str, kind: str, body: dict[str, Any]) -> None:
        """Take in what the process of a trial tells."""
        if kind == "attempt":
            self.attempts[trial].append(body)
        if kind in ("past", "ended"):
            self.passed[trial][body["puzzle"], body["epoch"]] = body["passed"]
        if kind == "ended":
            self.emit(AttemptEnded.model_validate({**body, "model": self.models[trial]}))
            for stop in self.stops.values() if self.over else ():
                stop.set()


async def compare_models(
    order: Mapping[str, Any], each: Mapping[str, Contestant], context: RunContext
) -> dict[str, Any]:
    """Let models attempt the same puzzles; the result holds the figures of all, and of the comparison.

    Args:
        order: of the first model's trial; the others' are alike, and the cap is shared equally.
        each: who makes the attempts, by the id of the trial, that one first.
        context: where to tell of it.

    Raises:
        ConfigurationError: there is no such puzzle or model, no box on this machine, or no Inspect.
        BudgetExceeded: the money is used up before it is decided.
        TrialFailed: attempts have no verdict, or a process broke off.
    """
    from ai_crucible.catalog_paths import resolve_puzzles
    from ai_crucible.puzzle_loader import in_drawn_order, load_puzzles
    from ai_crucible.versions import seed_of

    first, k = str(order["trial"]), int(order["k"])
    seed = seed_of(first, order["nonce"])
    models = {trial: one.name for trial, one in each.items()}
    puzzles = in_drawn_order(load_puzzles(resolve_puzzles(order["puzzles"])), seed)
    shop = workshop(order["folder"] or None)
    known = await asyncio.to_thread(shop.attested)
    contest = _Contest(
        models,
        _places(puzzles, k),
        k * len(puzzles),
        bool(order["early"]),
        context.emit,
        {trial: _passed(known.get(trial)) for trial in models},
        {trial: [] for trial in models},
        {trial: asyncio.Event() for trial in models},
    )
    done = sum(map(len, contest.passed.values()))
    context.emit(TrialBegan(trial=first, attempts=contest.total * len(models), puzzles=len(puzzles), done=done))
    shared = {
        **order,
        "seed": seed,
        # What an earlier sitting has decided is only told.
        "tell": contest.over,
        "max_cost": order["max_cost"] / len(models) if order["max_cost"] is not None else None,
        "at_once": max(1, order["at_once"] // len(models)),
    }

    async def one(trial: str, who: Contestant) -> dict[str, Any]:
        others = [name for name in models.values() if name != who.name]
        mine = {**shared, "trial": trial, "model": who.model, "agent": who.agent, "against": others}
        return await make_trial(mine, lambda kind, body: contest.take(trial, kind, body), contest.stops[trial])

    return await asyncio.to_thread(_settle, contest, await gather(one(trial, who) for trial, who in each.items()), shop)


def _places(puzzles: Sequence[Puzzle], k: int) -> list[Place]:
    # An anchor calibrates: that all pass it, or none, says nothing of a model.
    names = [puzzle.meta.id for puzzle in puzzles if puzzle.meta.anchor is None]
    return [(name, epoch) for epoch in range(1, k + 1) for name in names]


def _passed(trial: AttestedTrial | None) -> dict[Place, bool]:
    return {at: event.passed for at, event in (trial.graded if trial else {}).items() if event.passed is not None}


def _settle(contest: _Contest, ends: Sequence[dict[str, Any]], shop: Workshop) -> dict[str, Any]:
    """Write into the ledger what it came to, tell it, and return the figures.

    Raises:
        BudgetExceeded: the money was used up before it was decided.
        TrialFailed: attempts have no verdict.
    """
    from assay.protocols.ai_crucible.report.trial_events import seal_event
    from assay.protocols.ai_crucible.report.trial_records import read_seal

    known = shop.attested()
    contest.passed = {trial: _passed(known.get(trial)) for trial in contest.models}
    whole = all(end["status"] == "success" for end in ends)
    if whole:
        event = _compared(contest, known)
        if event != known[next(iter(contest.models))].compared:
            shop.ledger.append([event])
    attempts = [body for trial in contest.models for body in contest.attempts[trial]]
    for body in attempts:
        contest.emit(AttemptTold.model_validate(body))
    seal = read_seal(shop, list(contest.models))
    contest.emit(seal_event(seal))
    if not whole:
        for end in ends:
            check_end(end)
    return {
        **ends[0],
        **seal.data(),
        "models": [model for end in ends for model in end["models"]],
        "arms": [arm for end in ends for arm in end["arms"]],
        "attempts": len(attempts),
    }


def _compared(contest: _Contest, known: Mapping[str, AttestedTrial]) -> TrialsCompared:
    from ai_crucible.events import ComparedPair, TrialsCompared

    rows, names = contest.in_order(), list(contest.models)
    after = decided_after(rows, names)
    seen = rows[: after or None] if contest.early else rows
    p = pairs_p(seen, names)

    def pair(a: str, b: str) -> ComparedPair:
        both = [(row[a], row[b]) for row in seen]
        return ComparedPair(a=a, b=b, **asdict(PairedCounts.of(both)), e=round(e_value(both), 4), p=round(p[a, b], 6))

    left = {trial: contest.total - len(own) for trial, own in contest.passed.items()}
    saved, unit = _saved(contest, left)
    at = contest.places[after - 1] if after else None
    return TrialsCompared(
        trials={trial: plan.model for trial in names if (plan := known[trial].plan)},
        pairs=tuple(starmap(pair, combinations(names, 2))),
        after=len(seen),
        planned=len(contest.places),
        decided=after > 0,
        at=f"{at[0]}, attempt {at[1]}" if at else "",
        left_out=sum(left.values()),
        saved=saved,
        saved_in=unit,
    )


def _graded(attempts: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Return the records of attempts that have a verdict."""
    records = (body["attempt"]["log"]["record"] for body in attempts)
    return [record for record in records if record["passed"] is not None]


def _saved(contest: _Contest, left: Mapping[str, int]) -> tuple[int, str]:
    """Return what the attempts left out would have cost at each model's mean, and in what."""
    records = {trial: _graded(own) for trial, own in contest.attempts.items()}
    priced = all(record["cost"] for own in records.values() for record in own)

    def spent(record: Mapping[str, Any]) -> float:
        return record["cost"] * 1_000_000 if priced else record["input_tokens"] + record["output_tokens"]

    saved = sum(sum(map(spent, own)) / len(own) * left[trial] for trial, own in records.items() if own)
    return round(saved), "USD" if priced else "tokens"
