"""Accounts and transfers in C++, from recorded answers to a project that CMake builds and CTest accepts."""

from __future__ import annotations

import asyncio
import shutil
import subprocess
from collections.abc import AsyncIterator
from pathlib import Path

import account_system as system
import pytest
import pytest_asyncio
from tools_here import require

from criticality import AnswersFile, Orchestrator, create_project
from criticality.artifacts import Body
from criticality.languages import language
from criticality.languages.base.toolchain.compiled import CompiledToolchain
from criticality.machine.states import Completed
from criticality.spec.literals import Literals, literals_of
from criticality.testing import Limits

BODIES = {
    "accounts.deposit": """\
const Cents balance(account.balance.get() + amount.get());
return Account{account.id, balance, account.status};""",
    "accounts.withdraw": """\
if (amount.get() > account.balance.get()) {
  throw InsufficientFunds();
}
const Cents balance(account.balance.get() - amount.get());
return Account{account.id, balance, account.status};""",
    "payments.find_account": """\
const auto found = std::find_if(accounts.begin(), accounts.end(), [&](const Account& account) {
  return account.id == wanted;
});
if (found == accounts.end()) {
  return std::nullopt;
}
return *found;""",
    "payments.total": """\
std::int64_t sum = 0;
for (const auto& account : accounts) {
  sum += account.balance.get();
}
return Cents(sum);""",
    "payments.transfer": """\
const auto source = find_account(accounts, order.source());
const auto target = find_account(accounts, order.target());
if (!source || !target) {
  throw UnknownAccount();
}
const auto less = accounts::withdraw(*source, order.amount());
const auto more = accounts::deposit(*target, order.amount());
auto moved = accounts;
for (auto& account : moved) {
  if (account.id == less.id) {
    account = less;
  } else if (account.id == more.id) {
    account = more;
  }
}
return moved;""",
    "holds.place_hold": "return Hold{amount, Instant(at.get() + lasting.get())};",
    "holds.is_held": "return at < hold.held_until;",
}
#: Bodies that are nearly right, each with the test that notices.
WRONG = [
    (
        "accounts.withdraw",
        BODIES["accounts.withdraw"].replace("- amount.get())", "+ amount.get())"), "withdraw_ensures_3",
    ),
    ("payments.find_account", "return accounts.empty() ? std::nullopt : std::optional<Account>(accounts.front());",
     "find_account_ensures_2"),
    ("payments.total", BODIES["payments.total"].replace("sum +=", "sum ="), "total_ensures_1"),
    (
        "payments.transfer",
        BODIES["payments.transfer"].replace("account = less", "account = *source"), "transfer_001_the_same_amount",
    ),
    ("holds.is_held", "return at <= hold.held_until;", "hold_001_until_its_time"),
    (
        "payments.total",
        "std::int64_t sum = 0;\nfor (std::size_t round = 0; round < accounts.size(); ++round) {\n  sum = 0;\n"
        "  for (const auto& account : accounts) {\n    sum += account.balance.get();\n  }\n}\nreturn Cents(sum);",
        "speed_001_grows_with_the_list",
    ),
    (
        "accounts.withdraw",
        "static int calls = 0;\nconst std::int64_t less = ++calls % 7 == 3 ? 1 : 0;\n"
        + BODIES["accounts.withdraw"].replace("- amount.get())", "- amount.get() + less)"),
        "lanes_001_side_by_side",
    ),
]  # fmt: skip
_ANSWERS = system.ANSWERS.model_copy(
    update={"answers": {"performance": "none", "security": "none", "compliance": "none"} | system.ANSWERS.answers}
)
cpp = language("cpp")


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def gxx() -> AsyncIterator[CompiledToolchain]:
    await require("cpp")
    async with language("cpp").toolchain(parallel=2, limits=Limits(seconds=60)) as tools:
        yield tools


def _tree(bodies: dict[str, str]) -> dict[str, str]:
    spec, plan = system.spec(), system.plan()
    found = cpp.sources(spec, plan, {name: Body(text, "", "worker", 1) for name, text in bodies.items()})
    contracts = [function.contract for module in plan for function in module.functions]
    found |= cpp.test_support(spec, literals_of(contracts, system.claims().values()))
    files = [cpp.contract_test(spec, plan, module, f) for module in plan for f in module.functions]
    files += [cpp.claim_test(spec, plan, c, spec.claims[name].text) for name, c in system.claims().items()]
    return found | {file.path: file.source for file in files}


def test_a_newtype_has_a_private_value_and_a_constructor_that_may_throw() -> None:
    source = cpp.sources(system.spec(), system.plan(), {})["include/account_transfer/domain.hpp"]
    assert "explicit Cents(std::int64_t value) : value_(value) {\n    if (value_ < 0) throw Invalid(" in source
    assert "if (source.get() == target.get()) throw Invalid(" in source, "a record checks its invariant"


def test_a_skeleton_holds_nothing_but_what_is_to_do() -> None:
    tree = cpp.sources(system.spec(), system.plan(), {})
    for module in system.plan():
        assert cpp.leaked_logic(tree[cpp.module_path(system.spec(), module.name)]) == []


def test_the_recorded_bodies_pass_inspection() -> None:
    every = [function.name for module in system.plan() for function in module.functions]
    for module in system.plan():
        for function in module.functions:
            body = BODIES[f"{module.name}.{function.name}"]
            assert cpp.inspect_body(body, function, module=module.name, siblings=every) == []
            assert cpp.security_findings(body, function) == []


def test_every_claim_type_has_a_test_with_a_name_of_its_own() -> None:
    files = [text for path, text in _tree({}).items() if path.startswith("tests/claim_")]
    assert len(files) == len(system.claims())
    assert cpp.test_support(system.spec(), Literals())["tests/support/generators.hpp"].count("inline ") >= 18


@pytest.mark.long
@pytest.mark.asyncio(loop_scope="module")
async def test_wrong_bodies_are_noticed_and_the_promise_is_said(gxx: CompiledToolchain) -> None:
    for name, body, noticed_by in WRONG:
        tree = _tree({**BODIES, name: body})
        files = [path for path, text in tree.items() if path.startswith("tests/") and f", {noticed_by})" in text]
        report = await gxx.test(tree, files, seconds=60)
        broken = [test.message.splitlines()[0] for test in report.failures if test.name == noticed_by]
        assert broken and " does not hold" in broken[0], report


@pytest.mark.asyncio(loop_scope="module")
async def test_an_undone_body_is_said_to_be_undone(gxx: CompiledToolchain) -> None:
    report = await gxx.test(_tree({}), ["tests/payments_total_test.cpp"], seconds=60)
    assert report.failures and all(cpp.undone in test.message for test in report.failures)


@pytest.mark.long
@pytest.mark.asyncio(loop_scope="module")
async def test_a_system_goes_from_the_interview_to_a_project_that_cmake_builds(
    tmp_path: Path, gxx: CompiledToolchain
) -> None:
    root = tmp_path / "account-transfer"
    create_project(root, "account-transfer", seed=7, clock=system.clock, target="cpp")
    with (root / "criticality.toml").open("a") as file:
        file.write("\n[mass_defect]\nmutants_per_function = 0\n")
    async with Orchestrator(
        root, system.recorded(BODIES), human=AnswersFile(_ANSWERS), clock=system.clock
    ) as orchestrator:
        result = await orchestrator.run()
    assert isinstance(result.state, Completed), result
    if shutil.which("cmake") is None:
        pytest.skip("cmake is not here: the deliverable is not built by it")
    installed = await language("cpp").tools.pinned().ensure()
    for command in (
        ["cmake", "-B", "build", f"-DCMAKE_PREFIX_PATH={installed / 'usr'}", "-DCMAKE_COMPILE_WARNING_AS_ERROR=ON"],
        ["cmake", "--build", "build", "-j", "2"],
        ["ctest", "--test-dir", "build", "--output-on-failure"],
    ):
        done = await asyncio.to_thread(
            subprocess.run, command, cwd=root, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    assert "100% tests passed, 0 tests failed out of 14" in done.stdout
