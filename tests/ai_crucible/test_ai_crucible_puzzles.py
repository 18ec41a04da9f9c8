"""The puzzles that come with the package, and those made from checkouts and from nothing."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.extent import FULL, spread

from ai_crucible import SealedGrader, built_in_ids, check_puzzle, import_folder, load_puzzle, new
from ai_crucible.catalog_paths import BUILT_IN, resolve_puzzles
from ai_crucible.sealing import seal
from llm_runtime.errors import ConfigurationError


def test_there_are_enough_puzzles_and_each_names_its_source() -> None:
    puzzles = [load_puzzle(BUILT_IN / name) for name in built_in_ids()]
    real = [puzzle for puzzle in puzzles if puzzle.meta.anchor is None]
    assert len(real) >= 24
    assert {puzzle.meta.anchor for puzzle in puzzles} == {None, "trivial", "impossible"}
    assert all(len(puzzle.meta.source) > 60 for puzzle in real)
    assert len({puzzle.meta.kind for puzzle in real}) >= 12
    assert all(puzzle.meta.id == Path(puzzle.folder).name for puzzle in puzzles)


@pytest.mark.usefixtures("boxes")
@pytest.mark.parametrize("name", built_in_ids() if FULL else spread(built_in_ids(), 5))
async def test_every_puzzle_passes_its_check(name: str) -> None:
    check = await check_puzzle(load_puzzle(BUILT_IN / name), SealedGrader())
    assert check.ok, check.problems


@pytest.mark.usefixtures("boxes")
@pytest.mark.parametrize(
    ("files", "problem"),
    [
        ({"oracle/gold/total.py": "def total(n):\n    return 6\n"}, "gold solution fails"),
        ({"oracle/gold/total.py": None}, "no gold solution"),
        ({"work/total.py": "def total(n):\n    return n * (n + 1) // 2\n"}, "doing nothing passes|nothing to solve"),
        ({"oracle/wrong/also/total.py": "def total(n):\n    return n * (n + 1) // 2\n"}, "wrong/also passes"),
        ({"setup.sh": "head -c 8 /dev/urandom > token\n"}, "different files each time"),
        ({"oracle/gold/other.py": "x = 1\n"}, "added other.py"),
    ],
)
async def test_a_puzzle_that_proves_nothing_is_found_out(
    make_puzzle: Callable[..., Path], files: dict[str, str | None], problem: str
) -> None:
    check = await check_puzzle(load_puzzle(make_puzzle(**files)))
    assert not check.ok
    assert any(part in "; ".join(check.problems) for part in problem.split("|")), check.problems


@pytest.mark.usefixtures("boxes")
async def test_a_new_puzzle_passes_its_own_check_and_overwrites_nothing(tmp_path: Path) -> None:
    puzzle = new(tmp_path / "fresh-one")
    assert (await check_puzzle(puzzle)).ok
    with pytest.raises(ConfigurationError, match="exists"):
        new(tmp_path / "fresh-one")


def checkout(root: Path) -> Path:
    """A folder laid out as QuixBugs is, of our own writing."""
    files = {
        "python_programs/halve.py": "def halve(n):\n    return n / 2\n",
        "correct_python_programs/halve.py": "def halve(n):\n    return n // 2\n",
        "json_testcases/halve.json": "[[5], 2]\n[[4], 2]\n[[0], 0]\n",
        "python_programs/nodes.py": "def nodes(tree):\n    return 0\n",
        "correct_python_programs/nodes.py": "def nodes(tree):\n    return 1\n",
        "python_programs/lost.py": "def lost():\n    return 0\n",
        "python_programs/odd.py": "def odd(:\n",
        "correct_python_programs/odd.py": "def odd(:\n",
        "json_testcases/odd.json": "[[1], 1]\n",
    }
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root


@pytest.mark.usefixtures("boxes")
async def test_a_quixbugs_checkout_becomes_puzzles_that_pass_their_checks(tmp_path: Path) -> None:
    result = import_folder(checkout(tmp_path / "QuixBugs"), tmp_path / "puzzles")
    assert [folder.name for folder in result.written] == ["halve"]
    assert set(result.left_out) == {"nodes", "lost", "odd"}
    puzzle = load_puzzle(result.written[0])
    assert puzzle.meta.source == "QuixBugs: halve"
    assert (await check_puzzle(puzzle)).ok


@pytest.mark.usefixtures("boxes")
async def test_a_folder_with_tests_becomes_a_puzzle_and_nothing_in_it_is_run_here(tmp_path: Path) -> None:
    source = tmp_path / "programs"
    source.mkdir()
    trap = f"try: open({str(tmp_path / 'ran')!r}, 'w')\nexcept OSError: pass\n"
    (source / "twice.py").write_text("def twice(x):\n    return x + 2\n")
    (source / "twice_fixed.py").write_text("def twice(x):\n    return 2 * x\n")
    (source / "test_twice.py").write_text(
        trap + "from twice import twice\nimport unittest\n"
        "def test_a():\n    assert twice(3) == 6\n"
        "class T(unittest.TestCase):\n    def test_b(self):\n        self.assertEqual(twice(2), 4)\n"
    )
    result = import_folder(source, tmp_path / "puzzles", origin="a checkout")
    (folder,) = result.written
    checks = json.loads((folder / "oracle/checks.json").read_text())["checks"]
    assert checks[0]["cases"][0]["args"] == ["test_twice.py::test_a", "test_twice.py::T::test_b"]
    assert await seal(folder) == ""
    assert (await check_puzzle(load_puzzle(folder))).ok
    assert not (tmp_path / "ran").exists()


def test_a_folder_of_nothing_and_a_name_of_nothing_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="no programs"):
        import_folder(tmp_path, tmp_path / "puzzles")
    with pytest.raises(ConfigurationError, match="no-such-puzzle"):
        resolve_puzzles(["no-such-puzzle"])
