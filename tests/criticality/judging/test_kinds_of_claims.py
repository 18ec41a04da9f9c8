"""The shared example: every kind of claim is really judged, and can fail."""

from __future__ import annotations

import account_system as example
import pytest
import seeded
from turnstile_system import needs_toolchain

from criticality.judging.hearing import Verdict
from criticality.judging.judge import Judge

pytestmark = needs_toolchain

BODIES = {
    "accounts.deposit": "return replace(account, balance=Cents(account.balance + amount))",
    "accounts.withdraw": """\
if amount > account.balance:
    raise InsufficientFunds
return replace(account, balance=Cents(account.balance - amount))""",
    "payments.find_account": "return next((account for account in accounts if account.id == wanted), None)",
    "payments.total": "return Cents(sum(account.balance for account in accounts))",
    "payments.transfer": """\
source, target = find_account(accounts, order.source), find_account(accounts, order.target)
if source is None or target is None:
    raise UnknownAccount
changed = {source.id: withdraw(source, order.amount), target.id: deposit(target, order.amount)}
return tuple(changed.get(account.id, account) for account in accounts)""",
    "holds.place_hold": "return Hold(amount, Instant(at + lasting))",
    "holds.is_held": "return at < hold.held_until",
}


def heard(unit: list[str], bodies: dict[str, str] | None = None, due: list[str] | None = None) -> Verdict:
    """The verdict on some functions of the example."""
    project = seeded.Project(example.spec(), example.plan(), BODIES, [], list(example.claims().values()))
    with Judge(seeded.hearing(project, unit, bodies, due)) as judge:
        return judge.heard()


@pytest.mark.long
def test_the_whole_example_keeps_every_promise() -> None:
    verdict = heard(list(BODIES))
    assert (verdict.faults, verdict.guilty) == ([], None)


def test_right_bodies_keep_every_promise_about_them() -> None:
    verdict = heard(["holds.place_hold", "holds.is_held"])
    assert (verdict.faults, verdict.guilty) == ([], None) and verdict.cases > 100


@pytest.mark.parametrize(
    ("name", "body", "claim"),
    [
        ("accounts.withdraw", "return replace(account, balance=Cents(0))", "funds_001"),
        ("accounts.deposit", "return account", "balance_002"),
        ("holds.is_held", "return at <= hold.held_until", "hold_001"),
        (
            "payments.total",
            "kept = 0\nfor place in range(len(accounts)):\n"
            "    kept = sum(one.balance for one in accounts[: place + 1])\nreturn Cents(kept)",
            "speed_001",
        ),
        (
            "accounts.withdraw",
            "seen = withdraw.__dict__\nseen['n'] = seen.get('n', 0) + 1\n"
            "left = account.balance - amount + (1 if seen['n'] % 2 else 0)\n"
            "return replace(account, balance=Cents(left))",
            "lanes_001",
        ),
    ],
)
def test_each_kind_of_claim_can_fail(name: str, body: str, claim: str) -> None:
    verdict = heard([name], {name: body}, [claim])
    assert verdict.faults
