"""Hidden tests in a box of their own: what they reach over a pipe, what no solver reaches, and what stays unsealed."""

from __future__ import annotations

import asyncio
import json
import tomllib
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from tests.ai_crucible.test_ai_crucible_others import EXERCISE, HARBOR, INSTANCE, instances, lay
from tests.extent import FULL, spread

from ai_crucible import SealedGrader, check_puzzle, import_folder, load_puzzle
from ai_crucible.archives import archive_of, files_of
from ai_crucible.attempt import untouched_copy
from ai_crucible.cheats import cheats
from ai_crucible.checking import GOLD, laid_on
from ai_crucible.grading import edge
from ai_crucible.oracle_scorer import gate
from ai_crucible.sealing import seal
from ai_crucible.versions import self_reported
from sandbox import Box, Completed

HERE = Path(__file__).parent / "sealed"
# It runs alone in a box, and has no types.
suite: Any = import_module("ai_crucible.grading.suite")


def exercise(root: Path, name: str, *, solution: str, gold: str, tests: str) -> Path:
    """Make a puzzle of an exercise in the form of Exercism."""
    config = {"files": {"solution": [f"{name}.py"], "test": [f"{name}_test.py"], "example": [".meta/example.py"]}}
    files = {".meta/config.json": json.dumps(config), ".meta/example.py": gold, ".docs/instructions.md": "Do it.\n"}
    lay(root / "track" / name, {**files, f"{name}.py": solution, f"{name}_test.py": tests})
    (folder,) = import_folder(root / "track", root / "puzzles").written
    return folder


async def passing(folder: Path, overlays: dict[str, bytes]) -> list[str]:
    """Return which of some solutions pass a puzzle's gate; its gold must."""
    puzzle, grader = load_puzzle(folder), SealedGrader()
    untouched = await untouched_copy(puzzle)
    tried = {GOLD: (await grader.overlays(puzzle, GOLD))[GOLD], **overlays}
    passed: list[str] = []
    async with grader.sitting(puzzle, untouched, patience=6.0) as grade:
        verdicts = await grade(laid_on(untouched, overlay) for overlay in tried.values())
    for name, verdict in zip(tried, verdicts, strict=True):
        passed += [name] if gate(puzzle.meta, verdict, terminated_by=None).passed else []
    assert passed[0] == GOLD
    return passed[1:]


async def cheats_of(folder: Path) -> dict[str, bytes]:
    puzzle = load_puzzle(folder)
    untouched, gold = await untouched_copy(puzzle), (await SealedGrader().overlays(puzzle, GOLD))[GOLD]
    return dict(cheats(files_of(untouched), files_of(gold)))


@pytest.mark.usefixtures("boxes")
async def test_a_suite_of_many_kinds_of_things_passes_over_the_pipe(tmp_path: Path) -> None:
    gold, tests = ((HERE / name).read_text() for name in ("bank.txt", "bank_test.txt"))
    wrong = gold.replace("self.balance += n", "pass").replace("values.sort()", "pass").replace("None", "0")
    folder = exercise(tmp_path, "bank", solution=wrong, gold=gold, tests=tests)
    assert self_reported(load_puzzle(folder))
    assert await seal(folder) == ""
    assert not self_reported(load_puzzle(folder))
    check = await check_puzzle(load_puzzle(folder))
    assert check.ok, check.problems


@pytest.mark.usefixtures("boxes")
async def test_a_solution_may_wrap_a_test_s_own_function(tmp_path: Path) -> None:
    gold = "import functools\ndef twice(f): return functools.wraps(f)(lambda *given: 2 * f(*given))\n"
    tests = """
from wrapped import twice
def test_it():
    def one(n):
        return n + 1
    both = twice(one)
    assert both(2) == 6 and both.__name__ == "one"
"""
    wrong = "def twice(f): return lambda *given: 2 * f(*given)\n"
    folder = exercise(tmp_path, "wrapped", solution=wrong, gold=gold, tests=tests)
    assert await seal(folder) == ""
    peeking = "def twice(f): return type(f).__code__ and f.__code__ and f.__globals__\n"
    assert await passing(folder, {"peeking": archive_of({"wrapped.py": peeking.encode()})}) == []


@pytest.mark.usefixtures("boxes")
async def test_a_solution_can_tell_what_it_was_given_by_what_can_be_done_with_it(tmp_path: Path) -> None:
    gold = """
from collections.abc import Iterable, Sized
def kind(x): return [callable(x), isinstance(x, Iterable), isinstance(x, Sized), hasattr(x, "__enter__")]
class Many:
    def __iter__(self): return iter([1, 2])
"""
    tests = """
import contextlib, functools, operator
from kinds import Many, kind
class Own: pass
class Box(Own):
    def __call__(self): pass
    def __len__(self): return 0
def test_it():
    assert kind(i for i in range(3)) == [False, True, False, False]
    assert kind(operator.itemgetter(1)) == kind(functools.partial(len)) == kind(len) == [True] + [False] * 3
    assert kind(Own()) == [False] * 4 and kind(Own)[0] and kind(Box()) == [True, False, True, False]
    assert kind(contextlib.nullcontext()) == [False, False, False, True] and not callable(Many())
    assert [*map(str, Many())] == ["1", "2"]
"""
    folder = exercise(tmp_path, "kinds", solution="def kind(x): pass\nclass Many: pass\n", gold=gold, tests=tests)
    assert await seal(folder) == ""


@pytest.mark.usefixtures("boxes")
async def test_a_value_that_holds_a_thing_of_the_solution_stays_where_it_is(tmp_path: Path) -> None:
    """A time in a zone that the solution wrote, a count of its things: no literal, and no end of all tests."""
    gold = """
from collections import Counter
from datetime import datetime, timedelta, tzinfo

class Zone(tzinfo):
    def __init__(self, hours=0): self.hours = hours
    def utcoffset(self, at): return timedelta(hours=self.hours)
    def dst(self, at): return timedelta(0)
    def tzname(self, at): return "Z%d" % self.hours

class Coin:
    def __init__(self, of): self.of = of
    def __eq__(self, other): return self.of == other.of
    def __hash__(self): return hash(self.of)

class Row:
    def __init__(self, of): self.of = of
    def __getitem__(self, at): return self.of[at] if isinstance(at, (int, slice)) else {}[at]

def noon(hours): return datetime(2024, 2, 29, 12, tzinfo=Zone(hours))
def purse(*of): return Counter(Coin(each) for each in of)
"""
    tests = """
from datetime import datetime, timedelta
import zones
def test_zone():
    at = zones.noon(2)
    assert at.hour == 12 and at.utcoffset() == timedelta(hours=2) and at.tzname() == "Z2"
    assert at.replace(tzinfo=None) == datetime(2024, 2, 29, 12)
def test_purse():
    assert zones.purse(1, 1, 2)[zones.Coin(1)] == 2
def test_row():
    row = zones.Row([1, 2, 3, 4])
    assert row[1:3] == [2, 3] and row[::-1] == [4, 3, 2, 1] and row[0] == 1
"""
    wrong = (
        gold.replace("hours=self.hours", "hours=0")
        .replace("for each in of)", "for each in set(of))")
        .replace("self.of[at]", "self.of[:1]")
    )
    assert await seal(exercise(tmp_path, "zones", solution=wrong, gold=gold, tests=tests)) == ""


def test_small_suites_find_the_marks_of_pytest_where_it_is_not_installed() -> None:
    mark = suite.stand_in().mark

    @mark.parametrize(("n",), [(2,), (4,)])
    def test_each(n: object) -> None:
        assert n in (2, 4)

    @mark.skipif(True, reason="not here")
    def test_left_out() -> None:
        raise AssertionError

    @mark.skipif(False, reason="here")
    @mark.slow
    @mark.of_some_kind(3)
    def test_of_some_kind() -> None:
        pass

    named = {"test_each": test_each, "test_left_out": test_left_out, "test_of_some_kind": test_of_some_kind}
    found = [one for name, test in named.items() for one in suite.varied(name, test)]
    came = {name: suite.outcome(action) for name, action in found}
    assert came == {
        "test_each[0]": "passed", "test_each[1]": "passed", "test_left_out": "skipped", "test_of_some_kind": "passed",
    }  # fmt: skip


@pytest.mark.usefixtures("boxes")
async def test_copies_that_are_judged_together_get_the_verdicts_that_each_gets_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gold = "def half(n): return n // 2\n"
    folder = exercise(
        tmp_path,
        "half",
        solution=gold.replace("//", "*"),
        gold=gold,
        tests="import half\ndef test_it(): assert half.half(6) == 3 and half.half(7) == 3\n",
    )
    assert await seal(folder) == ""
    puzzle, grader = load_puzzle(folder), SealedGrader()
    untouched = await untouched_copy(puzzle)
    spoils = "import pathlib\nfor one in pathlib.Path('.').iterdir(): one.unlink()\n"
    texts = [gold, "def half(n): return n - 2\n", spoils, f"{spoils}{gold}", gold.replace("//", "/"), "def half("]
    copies = [untouched, *(laid_on(untouched, archive_of({"half.py": text.encode()})) for text in texts)]
    copies.append(laid_on(untouched, archive_of({"half.py": gold.encode(), "left.py": b""})))
    alone = [await grader(puzzle, untouched, copy) for copy in copies]
    run, waits = Box.run, list[float]()

    async def told(box: Box, argv: Sequence[str], **how: Any) -> Completed:
        waits.extend([how["seconds"]] * ("/tmp/.driver/driver.py" in argv))
        return await run(box, argv, **how)

    monkeypatch.setattr(Box, "run", told)
    async with grader.sitting(puzzle, untouched, patience=6.0) as grade:
        together = await grade(iter(copies))
    # What waits uses no processor: the clock ends it.
    assert waits and set(waits) == {6.0}
    assert together == alone and together[-1].leftovers == ("added left.py",)
    passed = [gate(puzzle.meta, one, terminated_by=None).passed for one in together]
    assert passed == [False, True, False, False, True, False, False, True]


@pytest.mark.usefixtures("boxes")
async def test_copies_are_exercised_side_by_side(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gold = "def half(n): return n // 2\n"
    tests = "import half\ndef test_it(): assert half.half(6) == 3\n"
    puzzle = load_puzzle(exercise(tmp_path, "half", solution="half = None\n", gold=gold, tests=tests))
    untouched, grader, exercised = await untouched_copy(puzzle), SealedGrader(), edge.exercise
    both = asyncio.Barrier(2)
    monkeypatch.setattr(edge, "_BENCHES", 2)

    async def meeting(*given: Any) -> Any:
        await both.wait()
        return await exercised(*given)

    async with grader.sitting(puzzle, untouched) as grade:
        monkeypatch.setattr(edge, "exercise", meeting)
        texts = [gold, gold.replace("2", "3"), gold.replace("//", "-"), f"{gold}#"]
        verdicts = await grade(laid_on(untouched, archive_of({"half.py": text.encode()})) for text in texts)
    passed = [gate(puzzle.meta, one, terminated_by=None).passed for one in verdicts]
    assert passed == [True, False, False, True]


@pytest.mark.usefixtures("boxes")
@pytest.mark.long
async def test_no_cheat_passes_what_is_sealed(tmp_path: Path) -> None:
    (leap,) = import_folder(lay(tmp_path / "track/leap", EXERCISE), tmp_path / "leap").written
    (kit,) = import_folder(instances(tmp_path / "swe", INSTANCE) / "tasks.jsonl", tmp_path / "kit").written
    for folder in (leap, kit):
        assert await seal(folder) == ""
        tried = await cheats_of(folder)
        assert len(tried) >= 40
        some = tried if FULL else {name: tried[name] for name in spread([*tried], 12)}
        assert await passing(folder, some) == []


@pytest.mark.usefixtures("boxes")
@pytest.mark.long
async def test_no_cheat_passes_that_was_thought_of_later(tmp_path: Path) -> None:
    unforeseen = tomllib.loads((HERE / "unforeseen.toml").read_text())
    (leap,) = import_folder(lay(tmp_path / "track/leap", EXERCISE), tmp_path / "leap").written
    gold = "def watch(n, callback): callback(n * 2)\n"
    tests = "from unittest import mock\nfrom watch import watch\ndef test_it():\n    c = mock.Mock(); watch(4, c)\n"
    watch = exercise(
        tmp_path / "w", "watch", solution="def watch(n, callback): pass\n", gold=gold,
        tests=f"{tests}    c.assert_called_with(8)\n",
    )  # fmt: skip
    for folder, name in ((leap, "leap"), (watch, "watch")):
        assert await seal(folder) == ""
        start = f"def {name}(*args): return True\n{unforeseen['head']}"
        codes = {cheat: f"{start}{code}".encode() for cheat, code in unforeseen[name].items()}
        assert await passing(folder, {cheat: archive_of({f"{name}.py": code}) for cheat, code in codes.items()}) == []


@pytest.mark.usefixtures("boxes")
async def test_a_cheat_that_passes_beside_the_tests_does_not_pass_over_the_pipe(tmp_path: Path) -> None:
    (folder,) = import_folder(lay(tmp_path / "track/leap", EXERCISE), tmp_path / "puzzles").written
    one = {name: (await cheats_of(folder))[name] for name in ["assertions that do nothing"]}
    assert await passing(folder, one) == [*one]
    assert await seal(folder) == ""
    assert await passing(folder, one) == []


@pytest.mark.usefixtures("boxes")
@pytest.mark.parametrize(
    ("tests", "why"),
    [
        ("from half import half\ndef test_it(): assert eval(repr(half(2))) == 1\n", "runs nothing of its own"),
        (
            "import subprocess, half\ndef test_it(): subprocess.run(['true'], check=True); assert half.half(2) == 1\n",
            "runs nothing of its own",
        ),
        ("from half import Half\ndef test_it(): assert Half(2) == 1\n", "AssertionError"),
    ],
)
async def test_what_cannot_be_sealed_stays_self_reported_with_the_reason(tmp_path: Path, tests: str, why: str) -> None:
    gold = "def half(n): return n // 2\nclass Half(object):\n    def __init__(self, n): self.n = n // 2\n"
    gold += "    def __eq__(self, other): return self.n == other\n"
    folder = exercise(tmp_path, "half", solution=gold.replace("//", "*"), gold=gold, tests=tests)
    assert why in await seal(folder)
    assert self_reported(load_puzzle(folder))
    assert (await check_puzzle(load_puzzle(folder))).gates[GOLD].passed


@pytest.mark.usefixtures("boxes")
@pytest.mark.parametrize("others", [1, 2])
async def test_few_tests_that_guard_what_was_there_are_left_out_for_the_rest_to_be_sealed(
    tmp_path: Path, others: int
) -> None:
    guards = {f"guard_{n}": f"assert middle([{n}]) == {n}" for n in range(5)}
    guards |= {f"other_{n}": "subprocess.run(['true'])" for n in range(others)}
    file = "import subprocess\nfrom kit.stats import middle\n"
    file += "".join(f"def test_{name}(): {line}\n" for name, line in guards.items())
    named = INSTANCE | {"PASS_TO_PASS": [f"tests/test_more.py::test_{name}" for name in guards]}
    source = instances(tmp_path / "swe", named)
    lay(source / "repos/me__kit-7", {"tests/test_more.py": file})
    (folder,) = import_folder(source, tmp_path / "puzzles").written
    why = await seal(folder)
    check = await check_puzzle(load_puzzle(folder))
    assert check.gates[GOLD].passed and self_reported(load_puzzle(folder)) == (others == 2)
    if others == 2:
        assert "test_other_0: failed: PermissionError" in why and check.pass_to_pass == ("pass to pass",)
    else:
        assert not why and check.pass_to_pass == ("pass to pass, 5 of 6",)


@pytest.mark.usefixtures("boxes")
async def test_a_solution_is_asked_nothing_that_the_gold_was_not_asked(tmp_path: Path) -> None:
    gold = "def greet(name): return 'Hello, ' + name\n"
    tests = "from greet import greet\ndef test_it(): assert greet('you').startswith('Hello')\n"
    folder = exercise(tmp_path, "greet", solution="def greet(name): pass\n", gold=gold, tests=tests)
    assert await seal(folder) == ""
    yes = "class Yes:\n    def startswith(self, text): return True\ndef greet(name): return Yes()\n"
    kind = "class Text(str):\n    def startswith(self, text): return True\ndef greet(name): return Text()\n"
    right = "def greet(name): return ''.join(['Hello, ', name])\n"
    tried = {"an object": yes, "a kind of text": kind, "another way": right}
    assert await passing(folder, {name: archive_of({"greet.py": text.encode()}) for name, text in tried.items()}) == [
        "another way"
    ]


def test_a_script_that_runs_beside_the_solution_is_self_reported(tmp_path: Path) -> None:
    files = {name: text for name, text in HARBOR.items() if not name.endswith(".py")}
    files["tests/test.sh"] = "python3 made.py && echo 1 > /logs/verifier/reward.txt\n"
    (folder,) = import_folder(lay(tmp_path / "a-task", files), tmp_path / "made").written
    assert self_reported(load_puzzle(folder))
