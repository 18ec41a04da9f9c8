"""Bodies of every language behind the judge's pipes: values come back exact, and calls are seen."""

from __future__ import annotations

import tomllib
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from types import ModuleType
from typing import Any, TypeAlias
from uuid import UUID

import account_system
import every_value
import pytest
from tools_here import require

from criticality.artifacts import Body
from criticality.judging.domain import Domain
from criticality.judging.served import Died, Place, Raised, Returned
from criticality.judging.wire import Codec
from criticality.languages import language

LANGUAGES = ["go", "typescript", "rust", "java", "cpp"]
Bodies: TypeAlias = dict[str, dict[str, str]]


@pytest.fixture(params=LANGUAGES)
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
        datetime(2026, 1, 31, 4, 5, 6, tzinfo=UTC), date(2026, 2, 3), UUID(int=77 << 70), b"\x00\xff", 0.1,
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
        undone = process.call(
            "payments.transfer", [(one, two), types["Transfer"](one.id, two.id, types["Amount"](1))]
        )
        assert isinstance(undone, Raised) and language(name).undone in undone.message
