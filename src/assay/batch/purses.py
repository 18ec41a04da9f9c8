"""Budgets as rows: what a call may take is held in one statement before it is sent, and settled after.

A hold that is never settled, because its worker died, stays held and so counts against the caps.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, TypeAlias

from assay.batch.database import Database
from assay.batch.ledger import Claim
from llm_runtime.wrappers.accounts import NOTHING, Account, Caps, Settlement, Spend

Reservation: TypeAlias = Literal["held", "full", "lost"]

_COLUMNS = ", ".join(f"{kind}_{name}" for kind in ("cap", "spent", "held", "unknown") for name in Spend._fields)
_MINE = "SELECT 1 FROM jobs WHERE batch_id = ? AND job_id = ? AND fence = ? AND state = 'running'"
_FITS = " AND ".join(
    f"(cap_{name} IS NULL OR spent_{name} + held_{name} + unknown_{name} + ? <= cap_{name})" for name in Spend._fields
)


def _moving(change: str) -> str:
    """Return a change of one column, written for all three amounts."""
    return ", ".join(change.format(name) for name in Spend._fields)


_CAPS = f"UPDATE SET {_moving('cap_{0} = excluded.cap_{0}')}"
_HOLD = f"UPDATE purses SET {_moving('held_{0} = held_{0} + ?')} WHERE purse = ? AND {_FITS}"
_CHANGES = ("held_{0} = held_{0} - ?", "spent_{0} = spent_{0} + ?", "unknown_{0} = unknown_{0} + ?")
_SETTLE = f"UPDATE purses SET {', '.join(map(_moving, _CHANGES))} WHERE purse = ? RETURNING {_COLUMNS}"


class Purses:
    """Accounts as rows. Micro-dollars, tokens and calls, all integers."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def open(self, purse: str, caps: Caps | None = None) -> Account:
        """Make the purse, or give the one that is there new caps, if any are given; what is spent, held and unknown
        stays. Return it as it stands."""
        self._database.execute(
            f"INSERT INTO purses (purse, {_COLUMNS}) VALUES (?, ?, ?, ?, 0, 0, 0, 0, 0, 0, 0, 0, 0) "
            f"ON CONFLICT (purse) DO {'NOTHING' if caps is None else _CAPS}",
            (purse, *(caps or Caps()).amounts),
        )
        return self.read(purse)

    def read(self, purse: str) -> Account:
        """Return the purse as it stands."""
        return self.all(purse)[purse]

    def all(self, *purses: str) -> dict[str, Account]:
        """Return each purse by its name; only those that are named, where any is, and there."""
        named = f"WHERE purse IN ({', '.join('?' * len(purses))}) " if purses else ""
        rows = self._database.execute(f"SELECT purse, {_COLUMNS} FROM purses {named}ORDER BY purse", purses)
        return {str(name): _account(row) for name, *row in rows}

    def reserve(self, purse: str, hold: Spend, claim: Claim | None = None, beside: Spend = NOTHING) -> Reservation:
        """Hold what a call may take at the most: ``"held"``; ``"full"`` where it does not fit and leave ``beside``;
        ``"lost"`` where ``claim`` is somebody else's by now."""
        whose = () if claim is None else (claim.batch_id, claim.job_id, claim.fence)
        mine = f" AND EXISTS ({_MINE})" if whose else ""
        held = self._database.execute(f"{_HOLD}{mine} RETURNING 1", (*hold, purse, *hold.plus(beside), *whose))
        if held:
            return "held"
        return "lost" if whose and not self._database.execute(_MINE, whose) else "full"

    def settle(self, purse: str, hold: Spend, settlement: Settlement) -> Account:
        """Replace a hold by what became of it, and return the purse as it stands then. Never done twice: where it
        is not known whether it was done, the hold stays."""
        amounts = (*hold, *settlement.spent, *settlement.unknown)
        [row] = self._database.execute(_SETTLE, (*amounts, purse))
        return _account(row)


def _account(row: Sequence[Any]) -> Account:
    return Account(Caps(*row[:3]), *(Spend(*map(int, row[at : at + 3])) for at in (3, 6, 9)))
