"""TypeScript: what is written, and the account system carried from recorded answers to what vitest accepts."""

from __future__ import annotations

import asyncio
import json
import subprocess
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import account_system as example
import pytest
import pytest_asyncio
from tools_here import require

from criticality import AnswersFile, Orchestrator, create_project
from criticality.artifacts import Body
from criticality.catalog import patterns
from criticality.language import Toolchain, Tree
from criticality.languages import language
from criticality.lattice_plan import index
from criticality.spec.literals import literals_of
from criticality.spec.spec import read_spec
from criticality.testing import ClaimTestFault, Limits

shared_loop = pytest.mark.asyncio(loop_scope="module")

BODIES = {
    "accounts.deposit": "return Account({ ...account, balance: Cents(account.balance + amount) });",
    "accounts.withdraw": """\
if (amount > account.balance) throw new InsufficientFunds();
return Account({ ...account, balance: Cents(account.balance - amount) });""",
    "payments.find_account": "return accounts.find((account) => account.id === wanted);",
    "payments.total": "return Cents(accounts.reduce((sum, account) => sum + account.balance, 0));",
    "payments.transfer": """\
const source = findAccount(accounts, order.source);
const target = findAccount(accounts, order.target);
if (source === undefined || target === undefined) throw new UnknownAccount();
const paid = withdraw(source, order.amount);
const received = deposit(target, order.amount);
return accounts.map((one) => (one.id === paid.id ? paid : one.id === received.id ? received : one));""",
    "holds.place_hold": "return Hold({ amount, heldUntil: Instant(at + lasting) });",
    "holds.is_held": "return at < hold.heldUntil;",
}
TYPESCRIPT = language("typescript")
SPEC, PLAN = example.spec(), example.plan()


def sources(**changed: str) -> Tree:
    """The system with its tests; ``module__function`` changes a body."""
    texts = {**BODIES, **{name.replace("__", "."): text for name, text in changed.items()}}
    bodies = {name: Body(text, "", "worker", 1) for name, text in texts.items() if text}
    tree = TYPESCRIPT.sources(SPEC, PLAN, bodies)
    contracts = [function.contract for _, function in index(PLAN).values()]
    tree |= TYPESCRIPT.test_support(SPEC, literals_of(contracts, example.claims().values()))
    for module, function in index(PLAN).values():
        file = TYPESCRIPT.contract_test(SPEC, PLAN, module, function)
        tree[file.path] = file.source
    for claim in example.claims().values():
        file = TYPESCRIPT.claim_test(SPEC, PLAN, claim, SPEC.claims[claim.id].text)
        tree[file.path] = file.source
    return tree


def files_of(tree: Tree) -> list[str]:
    """The test files of a tree."""
    return [path for path in tree if path.endswith(".test.ts")]


def claim_file(name: str) -> str:
    """The test file of a claim."""
    claim = example.claims()[name]
    return TYPESCRIPT.claim_test(SPEC, PLAN, claim, SPEC.claims[name].text).path


def test_types_are_branded_and_made_by_the_function_of_their_name() -> None:
    domain = sources()["src/domain.ts"]
    assert 'export type Amount = Branded<Cents, "Amount">;' in domain
    assert 'if (!(value > 0)) throw new RangeError("Amount: must be positive");' in domain
    assert 'export const AccountStatus = { active: "active", frozen: "frozen" } as const;' in domain
    assert "class InsufficientFunds extends Error" in domain
    assert 'if (!(source !== target)) throw new RangeError("Transfer: source != target.");' in domain


def test_functions_carry_their_contracts_with_names_as_in_the_code() -> None:
    skeleton = sources(payments__find_account="")["src/payments.ts"]
    assert 'throw new Error("not implemented");' in skeleton
    assert "ENSURES: findAccount(accounts, order.source) is None" in skeleton
    assert " * CLAIM_REF: balance_002\n" in skeleton
    assert (
        "export function findAccount(accounts: readonly Account[], wanted: AccountId): Account | undefined"
        in skeleton
    )


def test_every_kind_of_claim_has_its_own_kind_of_test() -> None:
    tree = sources()
    assert "$.clock();" in tree[claim_file("hold_001")] and "$.advance(1)" in tree[claim_file("hold_001")]
    assert "fc.scheduler()" in tree[claim_file("lanes_001")]
    assert "$.growth(" in tree[claim_file("speed_001")] and "slope < 1.5" in tree[claim_file("speed_001")]
    assert "$.raised(outcome, InsufficientFunds)" in tree[claim_file("funds_001")]
    assert "fc.property(" in tree[claim_file("balance_001")]
    assert 'AccountId("ann")' in tree[claim_file("transfer_001")]


@pytest.mark.parametrize(
    ("kind", "said"), [("Set<Account>", "apart by identity"), ("Map<Account, Cents>", "apart by identity")]
)
def test_what_javascript_would_compare_by_identity_is_refused_with_the_specification(kind: str, said: str) -> None:
    raw = json.loads(json.dumps(example.SPEC))
    raw["data_models"]["Hold"]["fields"].append({"name": "others", "type": kind})
    assert said in TYPESCRIPT.spec_fault(read_spec(raw))
    assert TYPESCRIPT.spec_fault(SPEC) == ""


def test_an_expression_that_cannot_be_a_test_is_a_fault_and_not_dropped() -> None:
    module, function = index(PLAN)["holds.is_held"]
    changed = function.model_copy(update={"contracts": ["ENSURES: result == round(at / 2)"]})
    with pytest.raises(ClaimTestFault, match="outside what typed languages render"):
        TYPESCRIPT.contract_test(SPEC, PLAN, module, type(function).model_validate(changed.model_dump()))


def test_every_pattern_has_an_example_and_what_it_declares_is_accepted() -> None:
    assert set(TYPESCRIPT.examples) == set(patterns())
    for pattern in patterns().values():
        if pattern.declares:
            declared = TYPESCRIPT.examples[pattern.id].after.partition("export ")[0].splitlines()
            first = "\n".join(declared[: 1 if len(declared) == 2 else None])
            assert TYPESCRIPT.declaration_fault(first) == "", first
    name = "extract-explanatory-variable"
    assert "person.age" in patterns()[name].prompt(TYPESCRIPT.examples[name])


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def tools() -> AsyncIterator[Toolchain]:
    await require("typescript")
    async with TYPESCRIPT.toolchain(parallel=2, limits=Limits(seconds=90, memory=1 << 30)) as found:
        yield found


@shared_loop
async def test_on_a_skeleton_every_test_fails_because_nothing_is_there(tools: Toolchain) -> None:
    tree = sources(**dict.fromkeys((name.replace(".", "__") for name in BODIES), ""))
    assert [str(error) for error in await tools.check(tree)] == []
    report = await tools.test(tree, files_of(tree))
    assert report.state == "done" and len(report.tests) >= 28
    assert [t for t in report.tests if t.outcome != "failed" or TYPESCRIPT.undone not in t.message] == []


@shared_loop
@pytest.mark.parametrize(
    ("name", "body", "claim"),
    [
        ("accounts__withdraw", "return Account({ ...account, balance: Cents(0) });", "funds_001"),
        ("accounts__deposit", "return account;", "balance_002"),
        ("holds__is_held", "return at <= hold.heldUntil;", "hold_001"),
        ("holds__is_held", "return Date.now() / 1000 < hold.heldUntil - 1;", "hold_001"),
        (
            "payments__total",
            "let sum = 0;\nfor (const one of accounts) sum += accounts.indexOf(one) < 0 ? 0 : one.balance;\n"
            "return Cents(sum);",
            "speed_001",
        ),
        (
            "accounts__withdraw",
            "const seen = globalThis as unknown as { left?: Account };\n"
            "const left = Account({ ...(seen.left ?? account), balance: Cents(account.balance - amount) });\n"
            "seen.left = Account({ ...left, id: AccountId('x') });\nreturn left;",
            "lanes_001",
        ),
    ],
)
async def test_each_kind_of_claim_can_fail(tools: Toolchain, name: str, body: str, claim: str) -> None:
    tree = sources(**{name: body})
    report = await tools.test(tree, [claim_file(claim)])
    assert report.state == "done" and report.failures, report
    assert report.failures[0].message.startswith(f"claim {claim} (") or "RangeError" in report.failures[0].message


@pytest.mark.long
@shared_loop
async def test_recorded_answers_become_a_project_that_passes_its_own_tests(
    tools: Toolchain, tmp_path: Path
) -> None:
    root = tmp_path / "account-transfer"
    create_project(root, "account-transfer", seed=7, clock=example.clock, target="typescript")
    with (root / "criticality.toml").open("a") as file:
        file.write("\n[mass_defect]\nmutants_per_function = 1\n\n[orchestrator.timeouts]\n")
        file.write("injection_per_function_seconds = 120\n")
    model = example.recorded(BODIES)
    async with Orchestrator(root, model, human=AnswersFile(example.ANSWERS), clock=example.clock) as orchestrator:
        result = await orchestrator.run()
    assert result.type == "completed", result.state
    trace: dict[str, Any] = json.loads((root / "trace.json").read_text())
    results = {name: claim["result"] for name, claim in trace["claims"].items()}
    assert results.pop("comfort_001").startswith("not shown")
    assert set(results.values()) == {"holds in every test"}
    (root / "node_modules").symlink_to(language("typescript").tools.pinned().folder / "node_modules")
    for command in (["npx", "tsc", "--noEmit"], ["npx", "eslint", "src"], ["npx", "vitest", "run"]):
        ran = await asyncio.to_thread(
            subprocess.run, command, cwd=root, capture_output=True, text=True, check=False
        )
        assert ran.returncode == 0, (command, ran.stdout[-2000:], ran.stderr[-500:])
