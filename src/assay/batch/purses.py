"""Budgets as rows: what a call may take is held in one statement before it is sent, and settled after.

A hold that is never settled, because its worker died, stays held and so counts against the caps.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import astuple, dataclass, field
from typing import Any, Literal, TypeAlias

from assay.batch.alerts import SHARES, Crossed
from assay.batch.database import Database
from assay.batch.ledger import Claim
from llm_runtime.wrappers.accounts import NOTHING, Caps, Settlement, Spend

Reservation: TypeAlias = Literal["held", "full", "lost"]

_COLUMNS = ", ".join(
    f"{kind}_{name}" for kind in ("cap", "spent", "held", "unknown") for name in ("cost", "tokens", "calls")
)
_MINE = "SELECT 1 FROM jobs WHERE batch_id = ? AND job_id = ? AND fence = ? AND state = 'running'"


@dataclass(frozen=True, slots=True)
class BatchPurse:
    """What a batch may spend, has spent, holds for calls under way, and does not know whether it was spent."""

    caps: Caps
    spent: Spend
    held: Spend
    unknown: Spend = field(default_factory=Spend)

    @property
    def empty(self) -> bool:
        """Whether nothing is left under one of the caps."""
        used = [sum(each) for each in zip(*map(astuple, (self.spent, self.held, self.unknown)), strict=True)]
        caps = (self.caps.cost, self.caps.tokens, self.caps.calls)
        return any(cap is not None and take >= cap for cap, take in zip(caps, used, strict=True))

    def crossed(self, settlement: Settlement) -> list[Crossed]:
        """Return the shares of its caps that a settlement, the last one, has reached."""
        found: list[Crossed] = []
        for name in ("cost", "tokens", "calls"):
            cap, spent, unknown = (getattr(each, name) for each in (self.caps, self.spent, self.unknown))
            last = getattr(settlement.spent, name) + getattr(settlement.unknown, name)
            used = 100 * (spent + unknown)
            found += [
                Crossed(name, percent, spent + unknown, cap)
                for percent in SHARES
                if cap and used - 100 * last < percent * cap <= used
            ]
        return found

    def refused(self) -> list[Crossed]:
        """Return what to tell where a call has no room any more: all of what was nearest to its end."""
        shares = [
            Crossed(name, 100, getattr(self.spent, name) + getattr(self.unknown, name), cap)
            for name in ("cost", "tokens", "calls")
            if (cap := getattr(self.caps, name))
        ]
        return sorted(shares, key=lambda one: one.used / one.cap)[-1:]


class Purses:
    """Rows of money. Micro-dollars, tokens and calls, all integers."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def open(self, purse: str, caps: Caps) -> None:
        """Make the purse, or give the one that is there new caps; what is spent, held and unknown stays."""
        self._database.execute(
            "INSERT INTO purses (purse, cap_cost, cap_tokens, cap_calls, spent_cost, spent_tokens, spent_calls, "
            "held_cost, held_tokens, held_calls) VALUES (?, ?, ?, ?, 0, 0, 0, 0, 0, 0) "
            "ON CONFLICT (purse) DO UPDATE SET cap_cost = excluded.cap_cost, "
            "cap_tokens = excluded.cap_tokens, cap_calls = excluded.cap_calls",
            (purse, caps.cost, caps.tokens, caps.calls),
        )

    def exists(self, purse: str) -> bool:
        """Tell whether there is such a purse."""
        return bool(self._database.execute("SELECT 1 FROM purses WHERE purse = ?", (purse,)))

    def read(self, purse: str) -> BatchPurse:
        """Return the purse as it stands."""
        row = self._database.execute(f"SELECT {_COLUMNS} FROM purses WHERE purse = ?", (purse,))[0]
        return _purse(row)

    def all(self) -> list[tuple[str, BatchPurse]]:
        """Return every purse with its name."""
        rows = self._database.execute(f"SELECT purse, {_COLUMNS} FROM purses ORDER BY purse")
        return [(str(name), _purse(row)) for name, *row in rows]

    def reserve(self, purse: str, hold: Spend, claim: Claim | None = None, beside: Spend = NOTHING) -> Reservation:
        """Hold what a call may take at the most: ``"held"``; ``"full"`` where it does not fit and leave ``beside``;
        ``"lost"`` where ``claim`` is somebody else's by now."""
        fits = " AND ".join(
            f"(cap_{name} IS NULL OR spent_{name} + held_{name} + unknown_{name} + ? <= cap_{name})"
            for name in ("cost", "tokens", "calls")
        )
        amounts = (hold.cost, hold.tokens, hold.calls)
        room = (hold.cost + beside.cost, hold.tokens + beside.tokens, hold.calls + beside.calls)
        mine, whose = ("", ()) if claim is None else (f" AND EXISTS ({_MINE})", _whose(claim))
        held = self._database.execute(
            "UPDATE purses SET held_cost = held_cost + ?, held_tokens = held_tokens + ?, "
            f"held_calls = held_calls + ? WHERE purse = ? AND {fits}{mine} RETURNING 1",
            (*amounts, purse, *room, *whose),
        )
        if held:
            return "held"
        if claim is not None and not self._database.execute(_MINE, whose):
            return "lost"
        return "full"

    def settle(self, purse: str, hold: Spend, settlement: Settlement) -> list[Crossed]:
        """Replace a hold by what became of it. Never done twice: where it is not known whether it was done, the
        hold stays.

        Returns:
            Which shares of its caps are used by now and were not before, whichever worker asks.
        """
        # No dataclasses.astuple: it copies deeply, for each call of a model.
        amounts = (
            each for of in (hold, settlement.spent, settlement.unknown) for each in (of.cost, of.tokens, of.calls)
        )
        rows = self._database.execute(
            "UPDATE purses SET held_cost = held_cost - ?, held_tokens = held_tokens - ?, "
            "held_calls = held_calls - ?, "
            "spent_cost = spent_cost + ?, spent_tokens = spent_tokens + ?, spent_calls = spent_calls + ?, "
            "unknown_cost = unknown_cost + ?, unknown_tokens = unknown_tokens + ?, "
            f"unknown_calls = unknown_calls + ? WHERE purse = ? RETURNING {_COLUMNS}",
            (*amounts, purse),
        )
        return [crossed for row in rows for crossed in _purse(row).crossed(settlement)]


def _purse(row: Sequence[Any]) -> BatchPurse:
    return BatchPurse(Caps(*row[:3]), *(Spend(*map(int, row[at : at + 3])) for at in (3, 6, 9)))


def _whose(claim: Claim) -> tuple[str, str, int]:
    return claim.batch_id, claim.job_id, claim.fence
