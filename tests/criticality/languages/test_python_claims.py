"""Python on the shared example: every kind of claim has a test that really runs, and that can fail."""

from __future__ import annotations

from collections.abc import AsyncIterator

import account_system as example
import pytest
import pytest_asyncio
from turnstile_system import needs_toolchain

from criticality.artifacts import Body
from criticality.language import Toolchain, Tree
from criticality.languages import language
from criticality.lattice_plan import index
from criticality.spec.literals import literals_of
from criticality.testing import Limits

pytestmark = [needs_toolchain, pytest.mark.asyncio(loop_scope="module")]

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
PYTHON = language("python")
SPEC, PLAN = example.spec(), example.plan()


def sources(**changed: str) -> Tree:
    """The system with its tests; ``module__function`` changes a body."""
    texts = {**BODIES, **{name.replace("__", "."): text for name, text in changed.items()}}
    tree = PYTHON.sources(SPEC, PLAN, {name: Body(text, "", "worker", 1) for name, text in texts.items()})
    contracts = [function.contract for _, function in index(PLAN).values()]
    tree |= PYTHON.test_support(SPEC, literals_of(contracts, example.claims().values()))
    files = [PYTHON.contract_test(SPEC, PLAN, *found) for found in index(PLAN).values()]
    files += [PYTHON.claim_test(SPEC, PLAN, c, SPEC.claims[c.id].text) for c in example.claims().values()]
    return tree | {file.path: file.source for file in files}


def claim_file(name: str) -> str:
    """The test file of a claim."""
    return PYTHON.claim_test(SPEC, PLAN, example.claims()[name], SPEC.claims[name].text).path


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def tools() -> AsyncIterator[Toolchain]:
    async with PYTHON.toolchain(parallel=1, limits=Limits(seconds=60)) as found:
        yield found


async def test_the_whole_example_passes_type_checker_and_tests(tools: Toolchain) -> None:
    tree = sources()
    assert [str(error) for error in await tools.check(tree)] == []
    files = [path for path in tree if "/test_" in path]
    report = await tools.test(tree, files)
    assert report.passed, report.failures


@pytest.mark.parametrize(
    ("name", "body", "claim"),
    [
        ("accounts__withdraw", "return replace(account, balance=Cents(0))", "funds_001"),
        ("accounts__deposit", "return account", "balance_002"),
        ("holds__is_held", "return at <= hold.held_until", "hold_001"),
        (
            "payments__total",
            "kept = 0\nfor place in range(len(accounts)):\n"
            "    kept = sum(one.balance for one in accounts[: place + 1])\nreturn Cents(kept)",
            "speed_001",
        ),
        (
            "accounts__withdraw",
            "seen = withdraw.__dict__\nseen['n'] = seen.get('n', 0) + 1\n"
            "left = account.balance - amount + (1 if seen['n'] % 2 else 0)\n"
            "return replace(account, balance=Cents(left))",
            "lanes_001",
        ),
    ],
)
async def test_each_kind_of_claim_can_fail(tools: Toolchain, name: str, body: str, claim: str) -> None:
    tree = sources(**{name: body})
    report = await tools.test(tree, [claim_file(claim)])
    assert report.state == "done" and report.failures, report
