"""Budgets as rows: what a call may take is held in one statement before it is sent, and settled after.

A hold that is never settled, because its worker died, stays held and so counts against the caps.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, TypeAlias

from assay.batch.database import SQL, NamedQueries
from assay.batch.ledger import Claim
from llm_runtime.wrappers.accounts import NOTHING, Account, Caps, Settlement, Spend

Reservation: TypeAlias = Literal["held", "full", "lost"]

_COLUMNS = SQL["purse_columns"]


class Purses(NamedQueries):
    """Accounts as rows. Micro-dollars, tokens and calls, all integers."""

    def open(self, purse: str, caps: Caps | None = None) -> Account:
        """Make the purse, or give the one that is there new caps, if any are given; what is spent, held and unknown
        stays. Return it as it stands."""
        change = "NOTHING" if caps is None else SQL["new_caps"]
        self._do("open_purse", purse, *(caps or Caps()).amounts, columns=_COLUMNS, change=change)
        return self.read(purse)

    def read(self, purse: str) -> Account:
        """Return the purse as it stands."""
        return self.all(purse)[purse]

    def all(self, *purses: str) -> dict[str, Account]:
        """Return each purse by its name; only those that are named, where any is, and there."""
        named = f"WHERE purse IN ({', '.join('?' * len(purses))})" if purses else ""
        return {str(n): _account(row) for n, *row in self._do("purses", *purses, columns=_COLUMNS, named=named)}

    def reserve(self, purse: str, hold: Spend, claim: Claim | None = None, beside: Spend = NOTHING) -> Reservation:
        """Hold what a call may take at the most: ``"held"``; ``"full"`` where it does not fit and leave ``beside``;
        ``"lost"`` where ``claim`` is somebody else's by now."""
        whose = () if claim is None else (claim.batch_id, claim.job_id, claim.fence)
        mine = f"AND EXISTS ({SQL['mine']})" if whose else ""
        if self._do("hold", *hold, purse, *hold.plus(beside), *whose, mine=mine):
            return "held"
        return "lost" if whose and not self._do("mine", *whose) else "full"

    def settle(self, purse: str, hold: Spend, settlement: Settlement) -> Account:
        """Replace a hold by what became of it, and return the purse as it stands then. Never done twice: where it
        is not known whether it was done, the hold stays."""
        [row] = self._do("settle", *hold, *settlement.spent, *settlement.unknown, purse, columns=_COLUMNS)
        return _account(row)


def _account(row: Sequence[Any]) -> Account:
    return Account(Caps(*row[:3]), *(Spend(*map(int, row[at : at + 3])) for at in (3, 6, 9)))
