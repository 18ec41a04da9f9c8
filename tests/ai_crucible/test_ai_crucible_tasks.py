"""Tasks that are worth measuring: their shapes, how hard they are, and others' tasks made ours."""

from __future__ import annotations

import json
import os
from itertools import product
from math import exp, log
from pathlib import Path
from random import Random
from typing import Any

import pytest

from ai_crucible import built_in_ids, check_puzzle, import_folder, load_puzzle
from ai_crucible.catalog_paths import BUILT_IN
from ai_crucible.rating import ratings

QUIXBUGS = Path(os.environ.get("ASSAY_QUIXBUGS", "../shared/datasets/quixbugs"))


def test_tasks_come_in_five_shapes_and_five_levels() -> None:
    metas = [load_puzzle(BUILT_IN / name).meta for name in built_in_ids()]
    assert sum(meta.anchor is None for meta in metas) >= 40
    assert {meta.shape for meta in metas} == {"function", "repository", "shell", "diagnosis", "specification"}
    assert {meta.difficulty for meta in metas} == {1, 2, 3, 4, 5}
    assert sum(meta.drawn for meta in metas) >= 3


def test_every_puzzle_keeps_a_reference_and_a_bar_of_solutions() -> None:
    for name in built_in_ids():
        oracle = BUILT_IN / name / "oracle"
        assert (oracle / "reference.py").exists(), name
        if load_puzzle(BUILT_IN / name).meta.drawn:
            continue
        edits = oracle / "edits.json"
        told: dict[str, Any] = json.loads(edits.read_text()) if edits.exists() else {}
        solutions = {*told, *(str(path.relative_to(oracle)) for path in oracle.glob("*/*"))}
        assert sum(each.startswith("wrong/") for each in solutions) >= 5, name
        assert sum(each.startswith("right/") for each in solutions) >= 3, name


def test_a_harder_task_is_rated_higher_and_more_attempts_make_it_surer() -> None:
    few = [("easy", "m", n < 8) for n in range(10)] + [("hard", "m", n < 2) for n in range(10)]
    rated, surer = ratings(few), ratings(few * 20)
    assert rated["hard"].value > rated["easy"].value and rated["easy"].high > rated["hard"].low
    assert surer["easy"].high < surer["hard"].low
    assert rated["hard"].attempts == 10 and rated["hard"].spread == ""


def test_a_task_that_only_strong_models_tried_is_not_taken_for_easy() -> None:
    common = [("shared", "strong", n < 9) for n in range(10)] + [("shared", "weak", n < 1) for n in range(10)]
    both = ratings([*common, *[("a", "strong", n < 5) for n in range(10)], *[("b", "weak", n < 5) for n in range(10)]])
    assert both["a"].value > both["b"].value + 300


def test_tasks_that_all_or_none_pass_are_marked_and_finite() -> None:
    rated = ratings([("all", "m", True)] * 50 + [("none", "m", False)] * 50)
    assert (rated["all"].spread, rated["none"].spread) == ("all pass", "none pass")
    assert rated["all"].value < 1500 < rated["none"].value < 5000
    assert ratings([]) == {}


def test_intervals_of_ratings_cover_what_they_say_where_few_models_tried_tasks_that_lie_far_apart() -> None:
    draw, covered, told = Random(7), 0, 0
    for _ in range(16):
        tasks = [draw.gauss(0, 3) for _ in range(10)]
        models = [draw.gauss(0, 1) for _ in range(2)]
        rated = ratings(
            (str(task), str(model), draw.random() < 1 / (1 + exp(tasks[task] - models[model])))
            for task, model in product(range(10), range(2))
            for _ in range(5)
        )
        for task, level in enumerate(tasks):
            true = 1500 + 400 / log(10) * (level - sum(models) / 2)
            covered, told = covered + (rated[str(task)].low <= true <= rated[str(task)].high), told + 1
    assert 0.93 <= covered / told <= 0.98


@pytest.mark.long
@pytest.mark.usefixtures("boxes")
@pytest.mark.skipif(not QUIXBUGS.is_dir(), reason="no checkout of QuixBugs; name one in ASSAY_QUIXBUGS")
async def test_quixbugs_imports_whole(tmp_path: Path) -> None:
    imported = import_folder(QUIXBUGS, tmp_path)
    assert len(imported.written) == 40 and not imported.left_out
    for folder in imported.written:
        check = await check_puzzle(load_puzzle(folder))
        assert check.ok, (folder.name, check.problems)


@pytest.mark.usefixtures("boxes")
async def test_tests_of_a_checkout_are_run_where_they_hold_no_plain_cases(tmp_path: Path) -> None:
    files = {
        "python_programs/node.py": "class Node:\n    def __init__(self, next=None):\n        self.next = next\n",
        "python_programs/length.py": "def length(node):\n    return 1 + length(node.next)\n",
        "correct_python_programs/length.py": "def length(n):\n    return 1 + length(n.next) if n else 0\n",
        "python_testcases/test_length.py": (
            "import pytest\nfrom node import Node\n"
            "if pytest.use_correct:\n    from correct_python_programs.length import length\n"
            "else:\n    from python_programs.length import length\n"
            "def test_two():\n    assert length(Node(Node())) == 2\n"
            "def test_type():\n    assert callable(length)\n"
        ),
        "python_programs/root.py": "def root(x, near):\n    return x\n",
        "correct_python_programs/root.py": "def root(x, near):\n    return x ** 0.5 + near / 2\n",
        "json_testcases/root.json": "[[4, 0.1], 2]\n[[9, 0.1], 3]\n[[1, 0.1], 1]\n[[1e9, 0], 0]\n",
        "python_testcases/test_root.py": (
            "def test(input_data, expected):\n"
            "    if input_data == [1e9, 0]:\n        pytest.skip('slow')\n"
            "    assert root(*input_data) == pytest.approx(expected, abs=input_data[-1])\n"
        ),
    }
    for name, text in files.items():
        (tmp_path / "checkout" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "checkout" / name).write_text(text)
    imported = import_folder(tmp_path / "checkout", tmp_path / "puzzles")
    assert sorted(folder.name for folder in imported.written) == ["length", "root"]
    for folder in imported.written:
        check = await check_puzzle(load_puzzle(folder))
        assert check.ok, check.problems


def test_statements_are_divided_into_clauses_that_wrong_solutions_break() -> None:
    divided = [name for name in built_in_ids() if (BUILT_IN / name / "oracle" / "clauses.json").exists()]
    assert len(divided) >= 47
    for name in divided:
        puzzle = load_puzzle(BUILT_IN / name)
        file = BUILT_IN / name / "oracle" / "clauses.json"
        clauses: dict[str, Any] = json.loads(file.read_text())
        assert all(clause["says"] in puzzle.prompt and clause["wrong"] for clause in clauses.values()), name
        # Each wrong solution breaks a clause.
        edits = BUILT_IN / name / "oracle" / "edits.json"
        told: set[str] = set(json.loads(edits.read_text())) if edits.exists() else set()
        told |= {str(path.relative_to(BUILT_IN / name / "oracle")) for path in (file.parent / "wrong").glob("*")}
        wrong = {each.removeprefix("wrong/") for each in told if each.startswith("wrong/")}
        assert wrong <= {each for clause in clauses.values() for each in clause["wrong"]}, name


def test_the_hours_of_a_person_change_no_digest_of_a_puzzle_that_does_not_say_them() -> None:
    said = {name: load_puzzle(BUILT_IN / name).meta.hours for name in built_in_ids()}
    assert sum(hours is not None and 1 <= hours <= 8 for hours in said.values()) >= 6
    assert load_puzzle(BUILT_IN / "off-by-one-total").digest.startswith("5cfbe7d5ea811f87")
