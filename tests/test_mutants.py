"""The list of mutants, and the runner that tries the tests on them."""

from __future__ import annotations

from pathlib import Path

import pytest
from tools import mutants

ROOT = Path(__file__).parents[1]
CORE = ("src/llm_runtime/wrappers", "src/llm_runtime/store", "src/llm_runtime/price", "src/assay/launch")
ENGINES = ("ai_crucible", "criticality", "crucible", "crux", "fire_circle")
MAKEFILE = "RESOURCES := box\n"
CODE = "def larger(a, b):\n    return a if a > b else b\n"
TESTS = "from larger import larger\n\n\ndef test_the_larger_is_returned():\n    assert larger(1, 2) == 2\n"


def test_each_mutant_changes_one_place_and_each_part_of_the_core_has_some() -> None:
    listed = mutants.mutants(ROOT)
    assert not list(mutants.misplaced(ROOT, listed))
    assert len(listed) >= 60
    for part in (*CORE, *(f"src/{engine}/" for engine in ENGINES)):
        assert sum(one.file.startswith(part) for one in listed) >= 4, part


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project of one function, with the one test that it has."""
    for name, text in {
        "Makefile": MAKEFILE,
        "pyproject.toml": "[tool.pytest.ini_options]\nmarkers = ['box', 'long']\n",
        "src/larger.py": CODE,
        "tests/test_larger.py": TESTS,
    }.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    (tmp_path / "tools").mkdir()
    monkeypatch.chdir(tmp_path)
    # All but one of the plugins that are installed take their time and are of no use here.
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    monkeypatch.setenv("PYTEST_PLUGINS", "pytest_timeout")
    return tmp_path


def listed(project: Path, *changes: tuple[str, str]) -> None:
    same = 'file = "src/larger.py"\ntests = ["tests/test_larger.py"]\nwhy = "?"\n'
    entries = [f'[[mutant]]\nold = "{old}"\nnew = "{new}"\n{same}' for old, new in changes]
    (project / "tools" / "mutants.toml").write_text("\n".join(entries), encoding="utf-8")


def test_what_the_tests_see_is_killed_and_what_they_do_not_see_lives(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    listed(project, ("a > b", "a < b"), ("a > b", "a >= b"))
    assert mutants.main([]) == 0
    told = [line.split()[:2] for line in capsys.readouterr().out.splitlines()]
    assert told == [["1", "killed"], ["2", "ALIVE"], ["2", "mutants,"]]
    assert (project / "src" / "larger.py").read_text(encoding="utf-8") == CODE


@pytest.mark.long
def test_more_than_three_alive_are_too_many(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    listed(project, ("a > b", "a >= b"))
    monkeypatch.setattr(mutants, "MOST_ALIVE", 0)
    assert mutants.main(["larger.py"]) == 1


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("a < b", "a > b", "mutant 1: 'a < b' stands 0 times in src/larger.py"),
        ("b", "a", "mutant 1: 'b' stands 3 times in src/larger.py"),
        ("a > b", "a > b", "mutant 1: it changes nothing"),
    ],
)
def test_a_mutant_that_is_no_change_of_one_place_is_an_error(
    project: Path, capsys: pytest.CaptureFixture[str], old: str, new: str, said: str
) -> None:
    listed(project, (old, new))
    assert mutants.main([]) == 1
    assert capsys.readouterr().out == f"tools/mutants.toml, {said}\n"


def test_tests_that_fail_by_themselves_kill_nothing(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    listed(project, ("a > b", "a < b"))
    (project / "tests" / "test_larger.py").write_text(TESTS.replace("== 2", "== 1"), encoding="utf-8")
    assert mutants.main([]) == 1
    assert capsys.readouterr().out == "the tests fail without any mutant\n"
