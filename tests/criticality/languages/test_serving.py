"""Bodies of every language behind the judge's pipes: values come back exact, and calls are seen."""

from __future__ import annotations

import asyncio
import tomllib
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from types import ModuleType
from typing import Any, TypeAlias
from uuid import UUID

import account_system
import every_value
import pytest
from tools_here import failed, require

from criticality import AnswersFile, Orchestrator, create_project
from criticality.artifacts import Body
from criticality.bodies import SpliceRefused
from criticality.judging.domain import Domain
from criticality.judging.served import BuildFailed, Died, Place, Raised, Returned
from criticality.judging.wire import Codec
from criticality.languages import language

pytestmark = pytest.mark.toolchain

LANGUAGES = ["go", "typescript", "rust", "java", "cpp"]
Bodies: TypeAlias = dict[str, dict[str, str]]


@pytest.fixture(params=[pytest.param(name, marks=pytest.mark.toolchain) for name in LANGUAGES])
async def written(request: pytest.FixtureRequest) -> tuple[str, Bodies]:
    """A language, and bodies in it for both systems."""
    name = str(request.param)
    await require(name)
    return name, tomllib.loads(Path(__file__).with_name("bodies").joinpath(f"{name}.toml").read_text("utf-8"))


@contextmanager
def _served(
    name: str, system: ModuleType, variants: Sequence[Mapping[str, str]]
) -> Generator[tuple[Place, dict[str, Any]]]:
    spec, plan = system.spec(), system.plan()
    made = [{f: Body(text, "", "worker", 1) for f, text in bodies.items()} for bodies in variants]
    program, domain = language(name).serve(spec, plan, made), Domain(spec)
    assert program is not None
    with Place(program, Codec(domain, plan)) as place:
        place.build()
        yield place, domain.types


def _parcel(types: Mapping[str, Any]) -> Any:
    first = types["Item"](types["Label"]("ä\n"), Decimal("1.5"), types["Colour"]("dark_blue"), None, 3)
    second = types["Item"](types["Label"](""), Decimal("0.25"), types["Colour"]("red"), "a note", 2**40)
    return types["Parcel"](
        (first, second), {"a": -1, "": 2**40}, frozenset({"q", "w"}), (1, 2), True,
        datetime(2026, 1, 31, 4, 5, 6), date(2026, 2, 3), UUID(int=77 << 70), b"\x00\xff", 0.1,
    )  # fmt: skip


def test_a_value_of_every_type_comes_back_as_it_went(written: tuple[str, Bodies]) -> None:
    name, bodies = written
    variants = [bodies["values"], bodies["values"] | bodies["faults"]]
    with _served(name, every_value, variants) as (place, types):
        parcel = _parcel(types)
        with place.serve() as process:
            assert process.call("shelf.keep", [parcel]) == Returned(parcel)
            assert process.call("shelf.look_up", [parcel, "a"]) == Returned(-1)
            missing = process.call("shelf.look_up", [parcel, "b"])
            assert isinstance(missing, Raised) and missing.kind == "Missing"
            assert process.call("shelf.check_ranks", [types["Ranks"]([1, 2])]) == Returned(None)
            assert process.seal
        with place.serve(1) as process:
            assert not isinstance(process.call("shelf.look_up", [parcel, "a"]), Returned)
            again = process.call("shelf.keep", [parcel])
            assert again == Returned(parcel) or (isinstance(again, Died) and "changes" in again.reason)
            assert ("shelf.keep" in bodies["faults"]) == isinstance(again, Died)


def test_the_calls_that_a_body_makes_come_back_with_its_result(written: tuple[str, Bodies]) -> None:
    name, bodies = written
    with _served(name, account_system, [bodies["accounts"]]) as (place, types), place.serve() as process:
        active = types["AccountStatus"]("active")
        one, two = (types["Account"](types["AccountId"](id_), types["Cents"](5), active) for id_ in "xy")
        order = types["Transfer"](one.id, two.id, types["Amount"](7))
        failed = process.call("payments.transfer", [(one, two), order])
        assert isinstance(failed, Raised) and failed.kind == "InsufficientFunds" and failed.trace
        assert [call.name for call in failed.trace] == ["payments.find_account"] * 2 + ["accounts.withdraw"]
        assert failed.trace[0].args == ((one, two), "x") and failed.trace[0].outcome == Returned(one)
        assert failed.trace[2].args == (one, 7) and isinstance(failed.trace[2].outcome, Raised)
        many = list(process.call_many([("payments.total", [(one, two)])] * 300))
        assert many == [Returned(10)] * 300


def test_a_function_that_is_still_to_do_says_so(written: tuple[str, Bodies]) -> None:
    name, bodies = written
    without = {k: v for k, v in bodies["accounts"].items() if k != "accounts.withdraw"}
    with _served(name, account_system, [without]) as (place, types), place.serve() as process:
        active = types["AccountStatus"]("active")
        one, two = (types["Account"](types["AccountId"](id_), types["Cents"](5), active) for id_ in "xy")
        undone = process.call("payments.transfer", [(one, two), types["Transfer"](one.id, two.id, types["Amount"](1))])
        assert isinstance(undone, Raised) and "implemented" in undone.message


def test_a_variant_that_does_not_compile_is_left_out_and_one_without_a_body_is_to_do(
    written: tuple[str, Bodies],
) -> None:
    name, bodies = written
    if name == "typescript":
        pytest.skip("the types are taken out, and the compiler has seen each body before")
    right, wanted = bodies["accounts"], "holds.is_held"
    without = {k: v for k, v in right.items() if k != wanted}
    with _served(name, account_system, [right, without, {**right, wanted: "return nothing_of_the_kind;"}]) as made:
        place, types = made
        hold = types["Hold"](types["Amount"](1), types["Instant"](10))
        assert place.unbuilt == {2}
        with place.serve() as process:
            assert process.call(wanted, [hold, types["Instant"](9)]) == Returned(True)
            work = process.work(wanted, [hold, types["Instant"](9)])
            assert work is not None and 0 < work < 10**9
        with place.serve(1) as process:
            assert isinstance(process.call(wanted, [hold, types["Instant"](9)]), Raised)


@pytest.mark.long
@pytest.mark.usefixtures("each_box")
def test_hostile_bodies_are_not_accepted_and_reach_nothing(written: tuple[str, Bodies], tmp_path: Path) -> None:
    name, bodies = written
    target, spec, plan = language(name), account_system.spec(), account_system.plan()
    hostile = tomllib.loads(Path(__file__).with_name("hostile").joinpath(f"{name}.toml").read_text("utf-8"))
    function = next(f for module in plan for f in module.functions if f.name == "is_held")
    mark, folder = tmp_path / "mark", tmp_path / "folder"
    folder.mkdir()
    for act in hostile["bodies"]:
        body = f"{act}\n{hostile['right']}".replace("MARK", str(mark)).replace("FOLDER", str(folder))
        try:
            target.splice(target.sources(spec, plan, {})[target.module_path(spec, "holds")], "is_held", body)
            seen: list[Any] = target.inspect_body(body, function, module="holds", siblings=["is_held"])
            seen += target.security_findings(body, function)
        except SpliceRefused as refused:
            seen = [refused]
        ended = _ended(name, {**bodies["accounts"], "holds.is_held": body})
        assert not mark.exists() and folder.exists(), act
        if not seen and ended == [Returned(True), Returned(False)]:
            made = {f: Body(text, "", "", 1) for f, text in {**bodies["accounts"], "holds.is_held": body}.items()}
            assert asyncio.run(_errors(name, target.sources(spec, plan, made))), act


def _ended(name: str, bodies: Mapping[str, str]) -> list[Any]:
    """Call a body that tells whether a moment is before another, if it can be built."""
    try:
        with _served(name, account_system, [bodies]) as (place, types), place.serve() as process:
            hold = types["Hold"](types["Amount"](1), types["Instant"](10))
            return list(process.call_many([("holds.is_held", [hold, types["Instant"](at)]) for at in (9, 10)]))
    except BuildFailed:
        return []


async def _errors(name: str, tree: dict[str, str]) -> list[Any]:
    async with language(name).toolchain() as tools:
        return await tools.check(tree)


@pytest.mark.long
async def test_recorded_answers_become_a_project_that_passes_its_own_tests(
    written: tuple[str, Bodies], tmp_path: Path
) -> None:
    name, bodies = written
    root = tmp_path / "account-transfer"
    create_project(root, "account-transfer", seed=7, clock=account_system.clock, target=name)
    with (root / "criticality.toml").open("a") as file:
        file.write('\n[acceptance]\nindependent_bodies = 0\nsettle = "ask"\n')
    asked = {"performance": "none", "security": "none", "compliance": "none", **account_system.ANSWERS.answers}
    human = AnswersFile(account_system.ANSWERS.model_copy(update={"answers": asked}))
    model = account_system.recorded(bodies["accounts"])
    async with Orchestrator(root, model, human=human, clock=account_system.clock) as orchestrator:
        result = await orchestrator.run()
    assert result.type == "completed", result.state
    assert await failed(name, root) == ""
