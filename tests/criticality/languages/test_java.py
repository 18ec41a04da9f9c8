"""Accounts and transfers in Java, from recorded answers to a project that `mvn test` accepts."""

from __future__ import annotations

import subprocess
from collections.abc import AsyncIterator
from pathlib import Path

import account_system as system
import every_value
import pytest
import pytest_asyncio
from tools_here import require

from criticality import AnswersFile, Orchestrator, create_project
from criticality.artifacts import Body
from criticality.languages import language
from criticality.languages.base.toolchain.compiled import CompiledToolchain
from criticality.languages.java import adapter
from criticality.machine.states import Completed
from criticality.spec.literals import Literals, literals_of
from criticality.spec.spec import read_spec
from criticality.testing import Limits

BODIES = {
    "accounts.deposit": """\
var balance = new Cents(account.balance().value() + amount.value());
return new Account(account.id(), balance, account.status());""",
    "accounts.withdraw": """\
if (amount.value() > account.balance().value()) {
    throw new InsufficientFunds();
}
var balance = new Cents(account.balance().value() - amount.value());
return new Account(account.id(), balance, account.status());""",
    "payments.find_account": "return accounts.stream().filter(account -> account.id().equals(wanted)).findFirst();",
    "payments.total": "return new Cents(accounts.stream().mapToLong(account -> account.balance().value()).sum());",
    "payments.transfer": """\
var source = findAccount(accounts, order.source());
var target = findAccount(accounts, order.target());
if (source.isEmpty() || target.isEmpty()) {
    throw new UnknownAccount();
}
var less = Accounts.withdraw(source.get(), order.amount());
var more = Accounts.deposit(target.get(), order.amount());
var after = new ArrayList<Account>();
for (var account : accounts) {
    after.add(account.id().equals(less.id()) ? less : account.id().equals(more.id()) ? more : account);
}
return after;""",
    "holds.place_hold": "return new Hold(amount, new Instant(at.value() + lasting.value()));",
    "holds.is_held": "return at.value() < hold.heldUntil().value();",
}
_COUNTED = "account -> accounts.stream().mapToLong(other -> other.balance().value()).sum() * 0 + account"
#: Bodies that are nearly right, each with the test that notices and the first words of what it says.
WRONG = [
    ("accounts.withdraw", ("- amount", "+ amount"), "accountsWithdrawEnsures3", "ENSURES: result.balance == "),
    ("payments.find_account", (".findFirst", ".skip(1).findFirst"), "paymentsFindAccountEnsures1", "ENSURES"),
    ("payments.transfer", ("? less", "? source.get()"), "claimTransfer001TheSameAmount", "claim transfer_001"),
    (
        "accounts.withdraw",
        ("InsufficientFunds", "UnknownAccount"),
        "claimFunds001OneMoreThanThereIs",
        "claim funds_",
    ),
    ("holds.is_held", ("<", "<="), "claimHold001UntilItsTime", "claim hold_001"),
    ("payments.total", ("account -> account", _COUNTED), "claimSpeed001GrowsWithTheList", "claim speed_001"),
]
#: Bodies for the system that has a value of every type.
KEEPING = {
    "shelf.keep": "return parcel;",
    "shelf.look_up": """\
if (!parcel.byName().containsKey(wanted)) {
    throw new Missing();
}
return parcel.byName().get(wanted);""",
    "shelf.check_ranks": "",
}
_ANSWERS = system.ANSWERS.model_copy(
    update={"answers": {"performance": "none", "security": "none", "compliance": "none"} | system.ANSWERS.answers}
)
java = adapter.adapter()


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def tools() -> AsyncIterator[CompiledToolchain]:
    await require("java")
    async with language("java").toolchain(parallel=1, limits=Limits(seconds=60)) as tools:
        yield tools


def _tree(bodies: dict[str, str]) -> dict[str, str]:
    spec, plan = system.spec(), system.plan()
    found = java.sources(spec, plan, {name: Body(text, "", "worker", 1) for name, text in bodies.items()})
    contracts = [function.contract for module in plan for function in module.functions]
    found |= java.test_support(spec, literals_of(contracts, system.claims().values()))
    files = [java.contract_test(spec, plan, module, f) for module in plan for f in module.functions]
    files += [java.claim_test(spec, plan, c, spec.claims[name].text) for name, c in system.claims().items()]
    return found | {file.path: file.source for file in files}


def test_a_newtype_is_a_record_that_refuses_to_be_made() -> None:
    tree = java.sources(system.spec(), system.plan(), {})
    cents = tree["src/main/java/accounttransfer/domain/Cents.java"]
    assert "public record Cents(long value) {\n    public Cents {\n        if (!(value >= 0L)) {" in cents
    transfer = tree["src/main/java/accounttransfer/domain/Transfer.java"]
    assert "keeps source != target" in transfer, "a record's invariant is checked when it is made"


def test_a_skeleton_holds_nothing_but_what_is_to_do() -> None:
    tree = java.sources(system.spec(), system.plan(), {})
    for module in system.plan():
        assert java.leaked_logic(tree[java.module_path(system.spec(), module.name)]) == []


def test_the_recorded_bodies_pass_inspection() -> None:
    every = [function.name for module in system.plan() for function in module.functions]
    for module in system.plan():
        for function in module.functions:
            body = BODIES[f"{module.name}.{function.name}"]
            assert java.inspect_body(body, function, module=module.name, siblings=every) == []
            assert java.security_findings(body, function) == []


def test_a_specification_that_java_cannot_carry_is_refused_in_one_line() -> None:
    newtypes = {**system.SPEC["newtypes"], "Optional": {"base": "Int"}}
    assert java.spec_fault(system.spec()) == ""
    assert java.spec_fault(read_spec({**system.SPEC, "newtypes": newtypes})) == (
        "Java has a Optional of its own; give the type another name"
    )


@pytest.mark.asyncio(loop_scope="module")
async def test_right_bodies_pass_every_test_and_the_compiler(tools: CompiledToolchain) -> None:
    tree = _tree(BODIES)
    assert await tools.check(tree) == []
    report = await tools.test(tree, [path for path in tree if path.endswith("Test.java")])
    assert report.passed, report.failures


@pytest.mark.asyncio(loop_scope="module")
async def test_wrong_bodies_are_noticed_and_the_promise_is_said(tools: CompiledToolchain) -> None:
    for name, (right, wrong), noticed_by, words in WRONG:
        tree = _tree({**BODIES, name: BODIES[name].replace(right, wrong)})
        (file,) = (path for path, text in tree.items() if f"void {noticed_by}(" in text)
        report = await tools.test(tree, [file])
        messages = [test.message for test in report.failures if test.name == noticed_by]
        assert messages and messages[0].startswith(words) and " does not hold" in messages[0], report


@pytest.mark.asyncio(loop_scope="module")
async def test_what_lanes_share_is_noticed(tools: CompiledToolchain) -> None:
    tree = _tree(BODIES)
    path = java.module_path(system.spec(), "accounts")
    shared = tree[path].replace("private Accounts() {}", "private Accounts() {}\n\n    private static long calls;")
    tree[path] = shared.replace("value() - amount", "value() - (++calls % 7 == 3 ? 1 : 0) - amount")
    report = await tools.test(tree, [p for p in tree if p.endswith("ClaimLanes001Test.java")])
    assert [test.name for test in report.failures] == ["claimLanes001SideBySide"]


@pytest.mark.asyncio(loop_scope="module")
async def test_what_holds_in_python_holds_for_values_of_every_type(tools: CompiledToolchain) -> None:
    spec, plan = every_value.spec(), every_value.plan()
    bodies = {name: Body(text, "", "worker", 1) for name, text in KEEPING.items()}
    tree = java.sources(spec, plan, bodies)
    assert java.spec_fault(spec) == ""
    assert await tools.check(tree) == []
    files = [java.contract_test(spec, plan, plan[0], function) for function in plan[0].functions]
    files += [java.claim_test(spec, plan, claim, "Every value is what it is") for claim in every_value.claims()]
    tree |= java.test_support(spec, Literals()) | {file.path: file.source for file in files}
    report = await tools.test(tree, [file.path for file in files])
    assert report.passed, report.failures
    assert len(report.tests) == sum(len(file.promises) for file in files)


@pytest.mark.asyncio(loop_scope="module")
async def test_an_undone_body_is_said_to_be_undone(tools: CompiledToolchain) -> None:
    tree = _tree({})
    report = await tools.test(tree, [path for path in tree if path.endswith("PaymentsTotalContractTest.java")])
    assert report.failures and all(java.undone in test.message for test in report.failures)


@pytest.mark.long
@pytest.mark.asyncio(loop_scope="module")
async def test_a_system_goes_from_the_interview_to_a_project_that_maven_accepts(
    tmp_path: Path, tools: CompiledToolchain
) -> None:
    root = tmp_path / "account-transfer"
    create_project(root, "account-transfer", seed=7, clock=system.clock, target="java")
    with (root / "criticality.toml").open("a") as file:
        file.write("\n[mass_defect]\nmutants_per_function = 0\n")
    async with Orchestrator(
        root, system.recorded(BODIES), human=AnswersFile(_ANSWERS), clock=system.clock
    ) as orchestrator:
        result = await orchestrator.run()
    assert isinstance(result.state, Completed), result
    done = _maven(root, await language("java").tools.pinned().ensure())
    assert done.returncode == 0, done.stdout[-3000:]
    reports = list((root / "target/surefire-reports").glob("TEST-*.xml"))
    assert len(reports) == len(system.FUNCTIONS) + len(system.CLAIMS)


def _maven(root: Path, installed: Path) -> subprocess.CompletedProcess[str]:
    """Maven by itself, outside of the tool and without a network."""
    words = ["mvn", "--offline", "--batch-mode", f"-Dmaven.repo.local={installed / 'repository'}", "test"]
    return subprocess.run(words, cwd=root, capture_output=True, text=True, check=False)
