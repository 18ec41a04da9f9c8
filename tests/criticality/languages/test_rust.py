"""Accounts and transfers in Rust, from recorded answers to a crate that `cargo test` accepts."""

from __future__ import annotations

import asyncio
import os
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
let balance = Cents::new(account.balance.get() + amount.get()).expect("a sum of what is there");
Account { balance, ..account.clone() }""",
    "accounts.withdraw": """\
match Cents::new(account.balance.get() - amount.get()) {
    Ok(balance) => Ok(Account { balance, ..account.clone() }),
    Err(_) => Err(Error::InsufficientFunds),
}""",
    "payments.find_account": "accounts.iter().find(|account| account.id == *wanted).cloned()",
    "payments.total": """\
Cents::new(accounts.iter().map(|account| account.balance.get()).sum()).expect("a sum of what is there")""",
    "payments.transfer": """\
let source = find_account(accounts, order.source()).ok_or(Error::UnknownAccount)?;
let target = find_account(accounts, order.target()).ok_or(Error::UnknownAccount)?;
let less = withdraw(&source, &order.amount())?;
let more = deposit(&target, &order.amount());
let moved = accounts.iter().map(|account| {
    if account.id == less.id {
        less.clone()
    } else if account.id == more.id {
        more.clone()
    } else {
        account.clone()
    }
});
Ok(moved.collect())""",
    "holds.place_hold": """\
let held_until = Instant::new(at.get() + lasting.get()).expect("a later time");
Hold { amount: *amount, held_until }""",
    "holds.is_held": "at < &hold.held_until",
}
#: Bodies that are nearly right, each with the test that notices.
WRONG = [
    ("accounts.withdraw", BODIES["accounts.withdraw"].replace("- amount", "+ amount"), "withdraw_ensures_3"),
    ("payments.find_account", "accounts.iter().next().cloned()", "find_account_ensures_2"),
    ("payments.total", BODIES["payments.total"].replace("sum()", "max().unwrap_or(0)"), "total_ensures_1"),
    (
        "payments.transfer",
        BODIES["payments.transfer"].replace("less.clone()", "source.clone()"),
        "transfer_001_the_same_amount",
    ),
    ("holds.is_held", "at <= &hold.held_until", "hold_001_until_its_time"),
    (
        "payments.total",
        "let mut sum = 0;\nfor _ in accounts {\n    sum = accounts.iter().map(|a| a.balance.get()).sum();\n}\n"
        'Cents::new(sum).expect("a sum of what is there")',
        "speed_001_grows_with_the_list",
    ),
    (
        "accounts.withdraw",
        "use std::sync::atomic::{AtomicI64, Ordering};\nstatic CALLS: AtomicI64 = AtomicI64::new(0);\n"
        "let calls = CALLS.fetch_add(1, Ordering::SeqCst);\n"
        + BODIES["accounts.withdraw"].replace("amount.get()", "amount.get() - i64::from(calls % 7 == 3)"),
        "lanes_001_side_by_side",
    ),
]
_ANSWERS = system.ANSWERS.model_copy(
    update={"answers": {"performance": "none", "security": "none", "compliance": "none"} | system.ANSWERS.answers}
)
rust = language("rust")


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def cargo() -> AsyncIterator[CompiledToolchain]:
    await require("rust")
    async with language("rust").toolchain(parallel=2, limits=Limits(seconds=60)) as tools:
        yield tools


def _tree(bodies: dict[str, str]) -> dict[str, str]:
    spec, plan = system.spec(), system.plan()
    found = rust.sources(spec, plan, {name: Body(text, "", "worker", 1) for name, text in bodies.items()})
    contracts = [function.contract for module in plan for function in module.functions]
    found |= rust.test_support(spec, literals_of(contracts, system.claims().values()))
    files = [rust.contract_test(spec, plan, module, f) for module in plan for f in module.functions]
    files += [rust.claim_test(spec, plan, c, spec.claims[name].text) for name, c in system.claims().items()]
    return found | {file.path: file.source for file in files}


def test_a_newtype_has_a_private_field_and_a_constructor_that_may_refuse() -> None:
    source = rust.sources(system.spec(), system.plan(), {})["src/domain.rs"]
    assert "pub struct Cents(i64);" in source
    assert "pub fn new(value: i64) -> Result<Self, Invalid> {\n        if value < 0 {" in source
    assert "if source.get() == target.get() {" in source, "a record's invariant is checked when it is made"


def test_a_skeleton_holds_nothing_but_what_is_to_do() -> None:
    tree = rust.sources(system.spec(), system.plan(), {})
    for module in system.plan():
        assert rust.leaked_logic(tree[rust.module_path(system.spec(), module.name)]) == []


def test_the_recorded_bodies_pass_inspection() -> None:
    every = [function.name for module in system.plan() for function in module.functions]
    for module in system.plan():
        for function in module.functions:
            body = BODIES[f"{module.name}.{function.name}"]
            assert rust.inspect_body(body, function, module=module.name, siblings=every) == []
            assert rust.security_findings(body, function) == []


def test_every_claim_type_has_a_test_with_a_name_of_its_own() -> None:
    tree = _tree({})
    files = [text for path, text in tree.items() if path.startswith("tests/claim_")]
    assert len(files) == len(system.claims())
    assert rust.test_support(system.spec(), Literals())["tests/support/generators.rs"].count("pub fn ") >= 8


@pytest.mark.asyncio(loop_scope="module")
async def test_wrong_bodies_are_noticed_and_the_promise_is_said(cargo: CompiledToolchain) -> None:
    for name, body, noticed_by in WRONG:
        tree = _tree({**BODIES, name: body})
        files = [path for path, text in tree.items() if path.startswith("tests/") and f"fn {noticed_by}(" in text]
        report = await cargo.test(tree, files, seconds=60)
        broken = [test.message.splitlines()[0] for test in report.failures if test.name == noticed_by]
        assert broken and " does not hold" in broken[0], report


@pytest.mark.asyncio(loop_scope="module")
async def test_an_undone_body_is_said_to_be_undone(cargo: CompiledToolchain) -> None:
    report = await cargo.test(_tree({}), ["tests/payments_total.rs"], seconds=60)
    assert report.failures and all(rust.undone in test.message for test in report.failures)


@pytest.mark.long
@pytest.mark.asyncio(loop_scope="module")
async def test_a_system_goes_from_the_interview_to_a_crate_that_cargo_accepts(
    tmp_path: Path, cargo: CompiledToolchain
) -> None:
    root = tmp_path / "account-transfer"
    create_project(root, "account-transfer", seed=7, clock=system.clock, target="rust")
    with (root / "criticality.toml").open("a") as file:
        file.write("\n[mass_defect]\nmutants_per_function = 0\n")
    async with Orchestrator(
        root, system.recorded(BODIES), human=AnswersFile(_ANSWERS), clock=system.clock
    ) as orchestrator:
        result = await orchestrator.run()
    assert isinstance(result.state, Completed), result
    installed = await language("rust").tools.pinned().ensure()
    target = tmp_path / "target"
    shutil.copytree(installed / "target", target, symlinks=True)
    lock = (installed / "Cargo.lock").read_text("utf-8").replace('"installed"', '"account_transfer"')
    (root / "Cargo.lock").write_text(lock, "utf-8")
    environment = {**os.environ, "CARGO_HOME": str(installed / "cargo-home"), "CARGO_TARGET_DIR": str(target)}
    environment |= {"CARGO_PROFILE_DEV_DEBUG": "0", "PROPTEST_CASES": "40"}
    done = await asyncio.to_thread(
        subprocess.run,
        ["cargo", "test", "--offline"],
        cwd=root,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    assert done.stdout.count("test result: ok") >= 14
    assert "warning" not in done.stderr
