"""Pace under a cap: no more jobs are begun than what is left lets finish, so that those come to an end in order."""

from __future__ import annotations

from dataclasses import dataclass

from assay.registry import protocol_of
from llm_runtime.wrappers.accounts import NOTHING, Account, Spend


@dataclass(slots=True)
class Pace:
    """What a job takes, as far as is known.

    Args:
        expected: before any has ended, as the recorded run of its protocol shows it; 0 is not known.
        largest: of those that have ended here; empty before.
    """

    expected: Spend = NOTHING
    largest: Spend = NOTHING

    @property
    def one(self) -> Spend:
        """What a job takes, as far as is known by now."""
        return self.largest if self.largest != NOTHING else self.expected

    def ended(self, spent: Spend) -> None:
        """Learn from a job that is done."""
        self.largest = self.largest.or_more(spent)

    def more(self, purse: Account, running: int, wanted: int) -> int:
        """Return how many of ``wanted`` jobs may be begun beside those running in all; one where none is running,
        which then meets the cap and says so."""
        for name, left in purse.left.items():
            if takes := getattr(self.one, name):
                wanted = min(wanted, (left + getattr(purse.held, name)) // takes - running)
        return max(wanted, 0 if running else 1)


def pace_of(kind: str) -> Pace:
    """Return the pace of a kind of run before any has ended."""
    needs = protocol_of(kind).needs
    return Pace() if needs is None else Pace(Spend(tokens=needs.asked + needs.answered, calls=needs.calls))
