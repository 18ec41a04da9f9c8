"""No body that a stated clause rules out is accepted; no right one is rejected; nothing gets out of its box."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import seeded
import yaml
from turnstile_system import needs_toolchain

from criticality.artifacts import Artifacts
from criticality.checks import failure_of
from criticality.events import VerificationFailed
from criticality.judging.hearing import VERDICT, Verdict
from criticality.judging.judge import Judge
from criticality.languages import language

pytestmark = needs_toolchain
HOSTILE = yaml.safe_load(Path(__file__).with_name("hostile.yaml").read_text("utf-8"))["wrong"]


def heard(one: seeded.Project, name: str, body: str = "", **more: Any) -> Verdict:
    with Judge(seeded.hearing(one, seeded.unit_of(one, name), {name: body} if body else {}, **more)) as judge:
        return judge.heard()


def accepted(verdict: Verdict) -> bool:
    return not verdict.faults and verdict.guilty is None


@pytest.mark.parametrize(("name", "count"), [("slots", 2), pytest.param("versions", 2, marks=pytest.mark.long)])
def test_a_few_wrong_bodies_fall_and_the_right_ones_stand(name: str, count: int) -> None:
    one = seeded.project(name)
    assert not any(accepted(heard(one, function, body)) for function, body in one.wrong[:count])
    assert accepted(heard(one, one.wrong[0][0]))


@pytest.mark.long
@pytest.mark.toolchain
@pytest.mark.parametrize("name", seeded.NAMES)
def test_of_twenty_wrong_bodies_none_is_accepted_and_every_right_one_is(name: str) -> None:
    one = seeded.project(name)
    assert [function for function in one.right if not accepted(heard(one, function))] == []
    assert len(one.wrong) >= 20
    assert [pair for pair in one.wrong if accepted(heard(one, *pair))] == []


def test_what_a_body_was_refused_for_is_tried_first_and_is_among_the_cases_of_the_one_that_stands() -> None:
    one, artifacts = seeded.project("slots"), Artifacts()
    failure = failure_of(heard(one, *one.wrong[4]))
    assert failure is not None and failure["cases"]
    artifacts.apply(VerificationFailed(unit="times.is_free", attempt=1, tier="worker", failure=failure, next="retry"))
    assert [["times.is_free", args] for args in artifacts.pinned["times.is_free"]] == failure["cases"]
    again = heard(one, *one.wrong[4], pinned=artifacts.pinned)
    assert again.cases < 200 and again.faults[0].args == failure["cases"][0][1]
    kept = heard(one, "times.is_free", pinned=artifacts.pinned).kept["times.is_free"]
    assert [args for args, _, _ in kept[: len(failure["cases"])]] == [args for _, args in failure["cases"]]


def test_two_hearings_say_the_same() -> None:
    one = seeded.project("versions")
    first, second = (VERDICT.dump_python(heard(one, *one.wrong[2])) for _ in range(2))
    assert first == second and first["faults"]


@pytest.mark.parametrize("body", [HOSTILE[0], HOSTILE[24]])
def test_a_hostile_body_is_rejected_and_has_no_effect(body: str, tmp_path: Path) -> None:
    harmless(body, tmp_path)


@pytest.mark.long
@pytest.mark.toolchain
@pytest.mark.usefixtures("each_box")
@pytest.mark.parametrize("number", range(len(HOSTILE)))
def test_no_hostile_body_is_accepted_or_has_an_effect(number: int, tmp_path: Path) -> None:
    harmless(HOSTILE[number], tmp_path)


def harmless(body: str, folder: Path) -> None:
    """Served although it should have been refused at a look, a body is rejected and leaves nothing behind."""
    effect = folder / "effect"
    verdict = heard(seeded.project("turnstile"), "gate.enter", body.replace("EFFECT", str(effect)))
    assert not accepted(verdict)
    assert not effect.exists()


def test_a_body_that_takes_memory_without_end_is_told_so_at_its_first_call() -> None:
    assert "'a' * 10**9" in HOSTILE[20] and "x += x" in HOSTILE[21]
    for body in HOSTILE[20:22]:
        verdict = heard(seeded.project("turnstile"), "gate.enter", body)
        assert verdict.cases == 1 and "more than 512 MiB of memory" in verdict.faults[0].what


def test_a_look_refuses_what_could_harm_though_its_result_is_right() -> None:
    """A body that returns what is right after it changed the language cannot be told apart by its results."""
    plan = SimpleNamespace(name="enter", parameters=(), calls=(), contract=SimpleNamespace(purity="pure"))
    dangerous = [body for body in HOSTILE if "import " in body or "__" in body or "open(" in body]
    assert len(dangerous) >= 30
    for body in dangerous:
        assert language("python").inspect_body(body, plan, module="gate", siblings=())[0].kind == "security", body  # pyright: ignore
