"""The fold over the results of a batch: sums by configuration and measure, in constant memory."""

from __future__ import annotations

import json
import math
from collections import Counter
from dataclasses import dataclass, field
from typing import TypeAlias

from assay.batch.ledger import Result
from assay.protocol import Measures
from assay.registry import hooks_for
from llm_runtime.statistics.interval import Interval
from llm_runtime.statistics.proportions import wilson

#: Kinds of one measure, puzzles of one trial, and examples of one failure, that are told apart.
MOST_KINDS = 40
MOST_TASKS = 400
MOST_ROWS = 5
_Z = 1.959964

Measure: TypeAlias = bool | float | str
"""Whether, how much, or of what kind."""


@dataclass(slots=True)
class Sum:
    """One measure of one configuration, summed up."""

    count: int = 0
    total: float = 0.0
    squares: float = 0.0
    yes_or_no: bool = True
    kinds: Counter[str] = field(default_factory=Counter[str])

    def add(self, value: Measure) -> None:
        """Take one more."""
        self.count += 1
        if isinstance(value, str):
            self.kinds[value if value in self.kinds or len(self.kinds) < MOST_KINDS else "other"] += 1
            return
        self.yes_or_no &= isinstance(value, bool)
        self.total += value
        self.squares += value * value

    def interval(self) -> Interval:
        """Return a share with Wilson's interval, or a mean with the normal one, at 95%."""
        if self.yes_or_no:
            return wilson(round(self.total), self.count)
        mean = self.total / self.count
        variance = max(0.0, self.squares / self.count - mean * mean) * self.count / max(1, self.count - 1)
        reach = _Z * math.sqrt(variance / self.count)
        return Interval(mean, mean - reach, mean + reach, 0.95)


@dataclass(slots=True)
class Failures:
    """Jobs that failed in one way: how many, their first rows and whether there are more, the message of one."""

    count: int = 0
    rows: list[int] = field(default_factory=list[int])
    more: bool = False
    message: str = ""

    def add(self, result: Result) -> None:
        """Take one more."""
        self.count += 1
        self.message = self.message or result.message
        if result.row in self.rows:
            return
        if len(self.rows) < MOST_ROWS:
            self.rows.append(result.row)
        else:
            self.more = True


class BatchFold:
    """What the results of a batch come to.

    Args:
        kind: the kind of run whose results they are.

    Attributes:
        sums: by configuration, then by measure.
        tasks: of puzzles, passed and graded attempts by puzzle and configuration.
        failures: by kind.
        repeated: whether some row was done more than once.
    """

    def __init__(self, kind: str) -> None:
        self.sums: dict[int, dict[str, Sum]] = {}
        self.tasks: dict[str, dict[int, list[int]]] = {}
        self.failures: dict[str, Failures] = {}
        self.repeated = False
        self._measures: Measures = hooks_for(kind).measures

    @property
    def measured(self) -> list[str]:
        """The measures that some result has, those that matter most first."""
        present = {name for sums in self.sums.values() for name in sums}
        return [name for name in self._measures if name in present]

    def apply(self, result: Result) -> None:
        """Take in the next result."""
        if result.state == "dead":
            self.failures.setdefault(result.error, Failures()).add(result)
        if result.result is None:
            return
        self.repeated |= result.repetition > 0
        data = json.loads(result.result)
        sums = self.sums.setdefault(result.configuration, {})
        for name, measure in self._measures.items():
            if (value := measure(data)) is not None:
                sums.setdefault(name, Sum()).add(value)
        if data.keys() >= {"puzzle", "passed"} and (data["puzzle"] in self.tasks or len(self.tasks) < MOST_TASKS):
            passed = self.tasks.setdefault(data["puzzle"], {}).setdefault(result.configuration, [0, 0])
            passed[0] += data["passed"]
            passed[1] += 1
