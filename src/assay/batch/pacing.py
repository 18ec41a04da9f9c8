"""Pace under a cap: no more jobs are begun than what is left lets finish, so that those come to an end in order."""

from __future__ import annotations

from dataclasses import dataclass, field

from assay.batch.purses import BatchPurse
from assay.registry import protocol_of
from llm_runtime.wrappers.accounts import NOTHING, Spend

_AMOUNTS = ("cost", "tokens", "calls")


@dataclass(slots=True)
class Pace:
    """What a job takes, as far as is known.

    Args:
        expected: before any has ended, as the recorded run of its protocol shows it; 0 is not known.
        largest: of those that have ended here; empty before.
    """

    expected: Spend = field(default_factory=Spend)
    largest: Spend = field(default_factory=Spend)

    @property
    def one(self) -> Spend:
        """What a job takes, as far as is known by now."""
        return self.largest if self.largest != NOTHING else self.expected

    def ended(self, spent: Spend) -> None:
        """Learn from a job that is done."""
        if spent != NOTHING:
            self.largest = self.largest.or_more(spent)

    def more(self, purse: BatchPurse, running: int, wanted: int) -> int:
        """Return how many of ``wanted`` jobs may be begun beside those running in all; one where none is running,
        which then meets the cap and says so."""
        for name in _AMOUNTS:
            cap, takes = getattr(purse.caps, name), getattr(self.one, name)
            if cap is not None and takes:
                left = cap - getattr(purse.spent, name) - getattr(purse.unknown, name)
                wanted = min(wanted, left // takes - running)
        return max(wanted, 0 if running else 1)


def pace_of(kind: str) -> Pace:
    """Return the pace of a kind of run before any has ended."""
    needs = protocol_of(kind).needs
    return Pace() if needs is None else Pace(Spend(tokens=needs.asked + needs.answered, calls=needs.calls))
