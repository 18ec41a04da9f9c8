"""What a debate will take, said before it starts: calls, tokens and money, with the assumptions."""

from __future__ import annotations

from collections.abc import Callable
from math import ceil

from crux.config import INPUT_TOKENS, SPEAKING, DebateConfig, ModelTable, Task
from crux.results import CamelModel
from llm_runtime.price import Price


class Estimate(CamelModel):
    """What a debate takes.

    Args:
        calls: in a typical debate; ``least`` where nobody disagrees, ``most`` where every bound is reached.
        cost: micro-dollars of a typical debate; None where a model has no known price.
        most_cost: where every bound is reached.
        assumes: what "typical" means, in one sentence.
    """

    calls: int
    least: int
    most: int
    cost: int | None
    most_cost: int | None
    assumes: str


def estimate(
    personas: int, config: DebateConfig | None = None, price: Callable[[str], Price | None] = lambda model: None
) -> Estimate:
    """Estimate a debate of a panel of ``personas``.

    Args:
        personas: 2 to 26.
        config: the debate's. For four personas and three aspects the defaults give 63 calls, as in the
            specification, three that look at each clash once more (CX2), and eight of the judge (CX22, CX23).
        price: of a model by its id; without one, nothing has a cost.
    """
    config = config or DebateConfig()
    typical = _calls(personas, config, _TYPICAL)
    most = _calls(personas, config, _MOST)
    return Estimate(
        calls=sum(typical.values()),
        least=sum(_calls(personas, config, _LEAST).values()),
        most=sum(most.values()),
        cost=_cost(typical, config.models, price),
        most_cost=_cost(most, config.models, price),
        assumes=(
            "one clash of 2 or 3 rebuttals an aspect, two crux rooms of 10 turns in the whole debate, "
            "no answer asked for twice"
        ),
    )


class _Course(CamelModel):
    """How a debate goes: clashes an aspect, rebuttals a clash, rooms in all, turns and checks a room.

    ``bounds`` says that all of them are reached.
    """

    clashes: int
    rebuttals: float
    rooms: int
    turns: int
    checks: int
    bounds: bool = False


_LEAST = _Course(clashes=0, rebuttals=0, rooms=0, turns=0, checks=0)
_TYPICAL = _Course(clashes=1, rebuttals=8 / 3, rooms=2, turns=10, checks=3)
_MOST = _Course(clashes=3, rebuttals=4, rooms=1_000, turns=16, checks=6, bounds=True)


def _calls(personas: int, config: DebateConfig, course: _Course) -> dict[Task, int]:
    aspects = config.most_aspects if config.aspects != "auto" or course.bounds else 3
    clashes = aspects * min(course.clashes, config.detected_pairs, personas * (personas - 1) // 2)
    rooms = min(course.rooms, config.rooms_per_aspect * aspects, clashes)
    calls: dict[Task, int] = {
        "decomposition": 1,
        "opening": personas,
        "take": personas * aspects,
        "detection": aspects + clashes,
        "rebuttal": ceil(clashes * min(course.rebuttals, config.rebuttals[1])),
        "room_turn": rooms * min(course.turns, config.room_turns),
        "exit_check": rooms * course.checks,
        "card": rooms,
        "relate": 3 * rooms,
        "judge": rooms,
        "summary": aspects,
        "closing": personas + (4 * config.flip_samples * rooms if config.flip_test else 0),
        "baseline": 2 if config.baselines else 0,
    }
    if course.bounds:
        # Every answer may be asked for again once, and every turn once more for a polite phrase.
        # A concession in every turn is weighed each time.
        calls["judge"] = calls["rebuttal"] + calls["room_turn"] + personas
        calls = {task: count * (3 if task in SPEAKING else 2) for task, count in calls.items()}
    return calls


def _cost(calls: dict[Task, int], models: ModelTable, price: Callable[[str], Price | None]) -> int | None:
    cost = 0
    for task, count in calls.items():
        known = price(models.model(task).id) if count else None
        if count and known is None:
            return None
        asked, answered = INPUT_TOKENS.get(task, 1_000), models.tasks[task].expected_tokens
        cost += known.cost(asked * count, answered * count) if known else 0
    return cost
