"""Soft limits of a purse: a webhook hears once when half, four fifths and all of it are used."""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import NamedTuple

from llm_runtime.http.webhooks import deliver
from llm_runtime.wrappers.accounts import Account, Spend

SHARES = (50, 80, 100)
"""Percent of a cap."""


class Crossed(NamedTuple):
    """A share of a cap that was reached just now.

    Args:
        amount: ``"cost"`` in micro-dollars, ``"tokens"`` or ``"calls"``.
        percent: of the cap.
        used: spent, and perhaps spent.
        cap: how much there is in all.
    """

    amount: str
    percent: int
    used: int
    cap: int


def crossed(account: Account, last: Spend) -> list[Crossed]:
    """Return the shares of an account's caps that were reached by what it was charged last, whoever did that."""
    each = zip(Spend._fields, account.caps.amounts, account.spent.plus(account.unknown), last, strict=True)
    return [
        Crossed(name, percent, used, cap)
        for name, cap, used, took in each
        for percent in SHARES
        if cap and 100 * (used - took) < percent * cap <= 100 * used
    ]


def refused(account: Account) -> list[Crossed]:
    """Return what to tell where a call has no room any more: all of what was nearest to its end."""
    name = account.tightest
    used, cap = (getattr(of, name) for of in (account.spent.plus(account.unknown), account.caps))
    return [Crossed(name, 100, used, cap)]


class Alerts:
    """Tells a webhook of shares that were crossed; nobody waits for it, and what goes wrong is one line.

    Args:
        purse: whose they are.

    Attributes:
        url: of the webhook; nothing is sent where it is empty.
    """

    def __init__(self, purse: str) -> None:
        self.url = ""
        self._purse = purse
        self._told: set[tuple[str, int]] = set()
        self._sending: set[asyncio.Task[None]] = set()

    def tell(self, crossed: Sequence[Crossed]) -> None:
        """Send what was crossed, each share once."""
        for one in crossed:
            if self.url and (one.amount, one.percent) not in self._told:
                self._told.add((one.amount, one.percent))
                task = asyncio.create_task(self._send(one))
                self._sending.add(task)
                task.add_done_callback(self._sending.discard)

    async def aclose(self) -> None:
        """Wait until what was to be told is told, or had its seconds."""
        await asyncio.gather(*self._sending)

    async def _send(self, crossed: Crossed) -> None:
        at = datetime.now(UTC).isoformat(timespec="seconds")
        payload = {"event": "budget", "purse": self._purse, **crossed._asdict(), "at": at}
        outcome = await deliver(self.url, payload, "assay", os.environ.get("ASSAY_WEBHOOK_SECRET", ""))
        if outcome != "sent":
            logging.getLogger("assay").warning("assay: the webhook of the budget was not told: %s", outcome)
