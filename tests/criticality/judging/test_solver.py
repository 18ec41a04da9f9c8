"""What a solver finds is tried by the judge as any other case; its word alone refuses no body."""

from __future__ import annotations

import importlib.util
import sys
from dataclasses import replace
from pathlib import Path

import pytest
import seeded
from turnstile_system import needs_toolchain

from criticality.judging.hearing import Hearing, Verdict
from criticality.judging.judge import Judge
from criticality.judging.wire import pack
from criticality.trace import trace_markdown

HERE = importlib.util.find_spec("crosshair") is not None
FUNCTIONS = {
    "after": {
        "params": ["number: Int"], "returns": "Int",
        "contracts": ["REQUIRES: number >= 0", "ENSURES: result == number + 1"],
    },
    "above": {
        "params": ["days: List<Int>", "limit: Int"], "returns": "List<Int>",
        "contracts": ["ENSURES: list(result) == [day for day in days if day > limit]"],
    },
    "halved": {
        "params": ["number: Int"], "returns": "Result<Int, Odd>",
        "contracts": [
            "ENSURES: number % 2 == 1 implies raises(Odd)", "ENSURES: number % 2 == 0 implies result * 2 == number",
        ],
    },
}  # fmt: skip
RIGHT = {
    "after": "return number + 1",
    "above": "return tuple(day for day in days if day > limit)",
    "halved": "if number % 2:\n    raise Odd\nreturn number // 2",
}
#: Wrong for one number in all, which stands nowhere in it, and whose place runs for every number.
ONE = 86_416
RARE = {
    "after": f"return number + 1 + (number * 7919 == {ONE * 7919})",
    "above": f"return tuple(day for day in days if day > limit and (day - limit) * 7919 != {ONE * 7919})",
    "halved": f"if number % 2 or number * 7919 == {ONE * 7919}:\n    raise Odd\nreturn number // 2",
}


@pytest.fixture(autouse=True)
def projects(monkeypatch: pytest.MonkeyPatch) -> None:
    one = {"functions": FUNCTIONS, "errors": ["Odd"], "right": [{name: text} for name, text in RIGHT.items()]}
    monkeypatch.setattr(seeded, "table", lambda _: {"solved": one})


def hearing(name: str, body: str) -> Hearing:
    return seeded.hearing(seeded.ruled_out("solved"), [f"it.{name}"], {f"it.{name}": body})


def heard(made: Hearing) -> Verdict:
    with Judge(made) as judge:
        return judge.heard()


def standing_in(made: Hearing, *lines: str) -> Hearing:
    """Return a hearing whose program has another solver, which says some lines."""
    files = {**made.program.files, "stand_in.py": f"import sys\nsys.stdin.read()\nprint({chr(10).join(lines)!r})\n"}
    command = (sys.executable, "-I", "-B", "stand_in.py")
    return replace(made, program=replace(made.program, files=files, solver=command, solved_by="Stand-in"))


def hexed(*args: object) -> str:
    return pack(list(args)).hex()


@needs_toolchain
@pytest.mark.box
def test_the_judge_tries_what_is_named_and_refuses_for_what_it_saw_itself() -> None:
    rare = hearing("after", RARE["after"])
    assert heard(standing_in(rare, "paths 3")).faults == []
    # Not of the form, of another type, ruled out by REQUIRES, right after all: then the one that tells.
    named = ["the body says so", hexed("text"), hexed(-5), hexed(7), hexed(ONE)]
    verdict = heard(standing_in(rare, *named, "paths 12"))
    (fault,) = verdict.faults
    assert fault.args == [ONE] and f"number={ONE}; the result was {ONE + 2}" in fault.what
    assert verdict.solved == {"it.after": "Stand-in looked at 12 paths and named 3 calls, which were tried"}
    kept = heard(standing_in(hearing("after", RIGHT["after"]), *named))
    assert kept.faults == [] and "was cut off and named 3 calls" in kept.solved["it.after"]


@needs_toolchain
def test_a_solver_runs_in_a_box_or_not_at_all_and_the_trace_says_which(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASSAY_SANDBOX", "none")
    right = hearing("after", RIGHT["after"])
    told = heard(standing_in(right, hexed(ONE))).solved["it.after"]
    assert told == "Stand-in was not asked: there is no box here"
    missing = heard(replace(right, program=replace(right.program, solver=()))).solved["it.after"]
    assert missing == "CrossHair is not installed"
    function = {"contracts": [], "cases": 1, "changes": 0, "changes_noticed": 0, "left_open": [], "attempts": 1,
                "tier": "hand", "accepted": True, "not_checkable": [], "complexity": None, "settled": [],
                "solved": told}  # fmt: skip
    shown = trace_markdown({"claims": {}, "functions": {"it.after": function}, "transformations": []})
    assert f"- `it.after`: {told}" in shown


@needs_toolchain
@pytest.mark.box
@pytest.mark.long
@pytest.mark.skipif(not HERE, reason="CrossHair is not installed")
@pytest.mark.parametrize("name", RARE)
def test_crosshair_finds_the_one_value_in_all_and_nothing_against_what_is_right(name: str) -> None:
    (fault,) = heard(hearing(name, RARE[name])).faults
    assert "does not hold for" in fault.what
    verdict = heard(hearing(name, RIGHT[name]))
    assert verdict.faults == [] and verdict.solved[f"it.{name}"].startswith("CrossHair looked at ")


@needs_toolchain
@pytest.mark.box
@pytest.mark.long
@pytest.mark.skipif(not HERE, reason="CrossHair is not installed")
def test_a_body_that_speaks_for_the_solver_gains_nothing(tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    touch, solving = "__import__('pathlib').Path.touch", "'crosshair.core' in __import__('sys').modules"
    path = f"__import__('pathlib').Path({str(mark)!r})"
    body = f"print('paths 99')\n[str, {touch}][{solving}]({path})\nreturn number + 1"
    verdict = heard(hearing("after", body))
    assert not mark.exists() and verdict.faults == []
    assert "and named 3 calls" in verdict.solved["it.after"]  # each call fails there, and none does here
