"""Accounts and transfers in Go, from recorded answers to a module that `go test` accepts."""

from __future__ import annotations

import os
import shutil
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
from criticality.languages.go import adapter, names
from criticality.machine.states import Completed
from criticality.spec.literals import Literals, literals_of
from criticality.spec.spec import read_spec
from criticality.testing import Limits

BODIES = {
    "accounts.deposit": """\
balance, err := domain.NewCents(account.Balance.Value() + amount.Value())
if err != nil {
	panic(err)
}
after := account
after.Balance = balance
return after""",
    "accounts.withdraw": """\
balance, err := domain.NewCents(account.Balance.Value() - amount.Value())
if err != nil {
	return domain.Account{}, domain.ErrInsufficientFunds
}
after := account
after.Balance = balance
return after, nil""",
    "payments.find_account": """\
for _, account := range accounts {
	if account.Id == wanted {
		return &account
	}
}
return nil""",
    "payments.total": """\
sum := 0
for _, account := range accounts {
	sum += account.Balance.Value()
}
total, err := domain.NewCents(sum)
if err != nil {
	panic(err)
}
return total""",
    "payments.transfer": """\
source, target := FindAccount(accounts, order.Source()), FindAccount(accounts, order.Target())
if source == nil || target == nil {
	return nil, domain.ErrUnknownAccount
}
less, err := Withdraw(*source, order.Amount())
if err != nil {
	return nil, err
}
more := Deposit(*target, order.Amount())
after := slices.Clone(accounts)
for i, account := range accounts {
	switch account.Id {
	case less.Id:
		after[i] = less
	case more.Id:
		after[i] = more
	}
}
return after, nil""",
    "holds.place_hold": """\
until, err := domain.NewInstant(at.Value() + lasting.Value())
if err != nil {
	panic(err)
}
return domain.Hold{Amount: amount, HeldUntil: until}""",
    "holds.is_held": "return at.Value() < hold.HeldUntil.Value()",
}
#: Bodies that are nearly right, each with the test that notices and the first words of what it says.
WRONG = [
    ("accounts.withdraw", ("- amount", "+ amount"), "TestAccountsWithdrawEnsures3", "ENSURES: result.balance == "),
    ("payments.find_account", ("return nil", "return &accounts[0]"), "TestPaymentsFindAccountEnsures2", "ENSURES"),
    ("payments.transfer", ("= less", "= *source"), "TestClaimTransfer001TheSameAmount", "claim transfer_001"),
    (
        "accounts.withdraw", ("ErrInsufficientFunds", "ErrUnknownAccount"), "TestClaimFunds001OneMoreThanThereIs",
        "claim funds_001",
    ),
    ("holds.is_held", ("<", "<="), "TestClaimHold001UntilItsTime", "claim hold_001"),
    (
        "payments.total",
        ("sum += account", "for range accounts {\n\t\tsum += 1\n\t\tsum -= 1\n\t}\n\tsum += account"),
        "TestClaimSpeed001GrowsWithTheList",
        "claim speed_001 (The total of all accounts is computed in O(n)) does not hold: time grows with the power",
    ),
]  # fmt: skip
#: Bodies for the system that has a value of every type.
KEEPING = {
    "shelf.keep": "return parcel",
    "shelf.look_up": """\
value, there := parcel.ByName()[wanted]
if !there {
	return 0, domain.ErrMissing
}
return value, nil""",
    "shelf.check_ranks": "",
}
_ANSWERS = system.ANSWERS.model_copy(
    update={"answers": {"performance": "none", "security": "none", "compliance": "none"} | system.ANSWERS.answers}
)
go = adapter.adapter()


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def tools() -> AsyncIterator[CompiledToolchain]:
    await require("go")
    async with language("go").toolchain(parallel=1, limits=Limits(seconds=60)) as tools:
        yield tools


def _tree(bodies: dict[str, str]) -> dict[str, str]:
    spec, plan = system.spec(), system.plan()
    found = go.sources(spec, plan, {name: Body(text, "", "worker", 1) for name, text in bodies.items()})
    contracts = [function.contract for module in plan for function in module.functions]
    found |= go.test_support(spec, literals_of(contracts, system.claims().values()))
    files = [go.contract_test(spec, plan, module, f) for module in plan for f in module.functions]
    files += [go.claim_test(spec, plan, c, spec.claims[name].text) for name, c in system.claims().items()]
    return found | {file.path: file.source for file in files}


def test_a_newtype_hides_its_value_and_its_constructor_may_refuse() -> None:
    source = go.sources(system.spec(), system.plan(), {})["domain/domain.go"]
    assert "type Cents struct{ value int }" in source
    assert "func NewCents(value int) (Cents, error) {\n\tif !(value >= 0) {" in source
    assert "func NewTransfer(source AccountId, target AccountId, amount Amount) (Transfer, error) {" in source


def test_a_skeleton_holds_nothing_but_what_is_to_do() -> None:
    tree = go.sources(system.spec(), system.plan(), {})
    for module in system.plan():
        assert go.leaked_logic(tree[go.module_path(system.spec(), module.name)]) == []


def test_the_recorded_bodies_pass_inspection() -> None:
    every = [function.name for module in system.plan() for function in module.functions]
    for module in system.plan():
        for function in module.functions:
            body = BODIES[f"{module.name}.{function.name}"]
            assert go.inspect_body(body, function, module=module.name, siblings=every) == []
            assert go.security_findings(body, function) == []


def test_imports_are_those_that_the_code_uses_and_no_others() -> None:
    code = 'func F() string {\n\treturn strings.ToUpper("fmt.Sprint") // slices.Clone\n}\n'
    assert names.with_imports("package p\n", code).startswith('package p\n\nimport (\n\t"strings"\n)\n')


def test_a_specification_that_go_cannot_carry_is_refused_in_one_line() -> None:
    spec = read_spec({**system.SPEC, "newtypes": {**system.SPEC["newtypes"], "Odd": {"base": "Set<List<Int>>"}}})
    assert go.spec_fault(system.spec()) == ""
    assert "Go cannot look up a List<Int>" in go.spec_fault(spec)


def test_a_function_whose_name_the_system_builds_for_one_machine_only_is_not_usable() -> None:
    assert go.usable("transfer")
    assert not any(go.usable(name) for name in ("type", "state_linux", "money_test"))


@pytest.mark.asyncio(loop_scope="module")
async def test_right_bodies_pass_every_test_and_the_compiler(tools: CompiledToolchain) -> None:
    tree = _tree(BODIES)
    assert await tools.check(tree) == []
    report = await tools.test(tree, [p for p in tree if p.startswith(("claim", "accounts_")) and "_test" in p])
    assert report.passed, report.failures


@pytest.mark.asyncio(loop_scope="module")
async def test_wrong_bodies_are_noticed_and_the_promise_is_said(tools: CompiledToolchain) -> None:
    for name, (right, wrong), noticed_by, words in WRONG:
        tree = _tree({**BODIES, name: BODIES[name].replace(right, wrong)})
        (file,) = (path for path, text in tree.items() if f"func {noticed_by}(" in text)
        report = await tools.test(tree, [file])
        messages = [test.message for test in report.failures if test.name == noticed_by]
        assert messages and messages[0].startswith(words), report


@pytest.mark.asyncio(loop_scope="module")
async def test_memory_that_lanes_share_is_a_race(tools: CompiledToolchain) -> None:
    if shutil.which("cc") is None:
        pytest.skip("cc is not here: the race detector links with it")
    tree = _tree(BODIES)
    shared = tree["accounts.go"].replace("func Withdraw", "var calls int\n\nfunc Withdraw")
    tree["accounts.go"] = shared.replace(
        "domain.NewCents(account.Balance.Value() - ", "domain.NewCents(count() - 1 + account.Balance.Value() - "
    )
    tree["accounts.go"] += "\nfunc count() int {\n\tcalls++\n\treturn 1\n}\n"
    report = await tools.test(tree, ["claim_lanes_001_test.go"])
    assert [test.message for test in report.failures] == [
        "two lanes touch the same memory, and one of them writes (data race)"
    ]


@pytest.mark.asyncio(loop_scope="module")
async def test_what_holds_in_python_holds_for_values_of_every_type(tools: CompiledToolchain) -> None:
    spec, plan = every_value.spec(), every_value.plan()
    bodies = {name: Body(text, "", "worker", 1) for name, text in KEEPING.items()}
    tree = go.sources(spec, plan, bodies)
    assert go.spec_fault(spec) == ""
    assert await tools.check(tree) == []
    files = [go.contract_test(spec, plan, plan[0], function) for function in plan[0].functions]
    files += [go.claim_test(spec, plan, claim, "Every value is what it is") for claim in every_value.claims()]
    tree |= go.test_support(spec, Literals()) | {file.path: file.source for file in files}
    report = await tools.test(tree, [file.path for file in files])
    assert report.passed, report.failures
    assert len(report.tests) == sum(len(file.promises) for file in files)


@pytest.mark.asyncio(loop_scope="module")
async def test_an_undone_body_is_said_to_be_undone(tools: CompiledToolchain) -> None:
    report = await tools.test(_tree({}), ["payments_total_contract_test.go"])
    assert report.failures and all(go.undone in test.message for test in report.failures)


@pytest.mark.asyncio(loop_scope="module")
async def test_a_system_goes_from_the_interview_to_a_module_that_go_accepts(
    tmp_path: Path, tools: CompiledToolchain
) -> None:
    root = tmp_path / "account-transfer"
    create_project(root, "account-transfer", seed=7, clock=system.clock, target="go")
    with (root / "criticality.toml").open("a") as file:
        file.write("\n[mass_defect]\nmutants_per_function = 0\n")
    async with Orchestrator(
        root, system.recorded(BODIES), human=AnswersFile(_ANSWERS), clock=system.clock
    ) as orchestrator:
        result = await orchestrator.run()
    assert isinstance(result.state, Completed), result
    installed = await language("go").tools.pinned().ensure()
    for words in (["go", "vet", "./..."], ["go", "test", "./..."]):
        assert _ran(root, installed, words).returncode == 0
    written = [path.name for path in root.glob("*.go") if not path.name.endswith("_test.go")]
    assert sorted(written) == ["accounts.go", "holds.go", "payments.go"]
    assert _ran(root, installed, ["gofmt", "-l", *written, "domain"]).stdout == ""


def _ran(root: Path, installed: Path, words: list[str]) -> subprocess.CompletedProcess[str]:
    """A command of the language's own, outside of the tool and without a network."""
    environment = {
        **os.environ, "GOPROXY": "off", "GOFLAGS": "-mod=mod", "GOTOOLCHAIN": "local", "GOSUMDB": "off",
        "GOMODCACHE": str(installed / "modules"), "GOCACHE": str(installed / "build-cache"),
    }  # fmt: skip
    done = subprocess.run(words, cwd=root, env=environment, capture_output=True, text=True, check=False)
    print(done.stdout[-3000:], done.stderr[-3000:])
    return done
