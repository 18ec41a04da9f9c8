"""Tasks out of a repository's own history: which commits make one, and why the others do not."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from ai_crucible.grading.edge import SealedGrader
from ai_crucible.history import Commit, Mined, commits_of, drafted, material, mined, tree_of
from ai_crucible.mutation import mutants
from ai_crucible.puzzle_loader import load_puzzle
from ai_crucible.versions import self_reported
from llm_runtime.errors import ConfigurationError
from llm_runtime.messages import Request
from llm_runtime.providers.scripted import scripted

WRONG = "def total(n):\n    return sum(range(1, n))\n"
RIGHT = "def total(n):\n    return sum(range(1, n + 1))\n"
TESTS = """from unittest import TestCase

from calc.sums import total


class TotalTest(TestCase):
    def test_none(self):
        self.assertEqual(total(0), 0)
"""
MORE = TESTS + "\n    def test_n_counts(self):\n        self.assertEqual(total(4), 10)\n"
VACUOUS = MORE + "\n    def test_nothing(self):\n        self.assertTrue(True)\n"


class Repository:
    """A repository with one commit after another, each of files that it changes; ``None`` takes one away."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir()
        self.git("init", "-q", "-b", "main")

    def git(self, *words: str) -> None:
        who = ("-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false")
        subprocess.run(["git", *who, *words], cwd=self.folder, check=True, capture_output=True)

    def commit(self, message: str, **files: str | None) -> None:
        for name, text in files.items():
            path = self.folder / name.replace("__", "/").replace("_py", ".py")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.unlink() if text is None else path.write_text(text)
        self.git("add", "-A")
        self.git("commit", "-q", "-m", message)


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    made = Repository(tmp_path / "own")
    releases = {".gitattributes": "tests export-ignore\n"}
    made.commit("Begin", calc__sums_py=WRONG, calc__old_py="", README="sums\n", tests__test_sums_py=TESTS, **releases)
    made.commit("Say what it is", README="sums of numbers\n")
    made.commit("Count n itself: total(4) is 10 (#12)\n\nReviewed-by: B <b@example.org>",
                calc__sums_py=RIGHT, tests__test_sums_py=MORE)  # fmt: skip
    made.commit("Write it down", calc__sums_py=RIGHT + "# n counts\n", tests__test_sums_py=VACUOUS)
    made.commit("Take the old sums away", calc__old_py=None, tests__test_sums_py=VACUOUS + "# less\n")
    made.commit("wip", calc__sums_py=RIGHT, tests__test_sums_py=MORE)
    return made


def by_subject(repository: Repository) -> dict[str, Commit]:
    return {commit.message.splitlines()[0]: commit for commit in commits_of(repository.folder)}


def test_commits_of_tests_and_source_are_found_and_no_others(repository: Repository) -> None:
    found = by_subject(repository)
    assert list(found) == ["wip", "Write it down", "Count n itself: total(4) is 10"]
    commit = found["Count n itself: total(4) is 10"]
    assert commit.message == "Count n itself: total(4) is 10"  # neither who reviewed it nor where it was discussed
    assert (commit.tests, commit.sources) == (("tests/test_sums.py",), ("calc/sums.py",))
    tree = tree_of(repository.folder, commit.parent)
    assert tree["calc/sums.py"].decode() == WRONG and "tests/test_sums.py" in tree  # though no release has it


def test_what_is_no_repository_is_told_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="git reads no history there"):
        list(commits_of(tmp_path))


def test_a_revision_is_never_an_option_of_git_s(repository: Repository, tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="bad revision '--output="):
        list(commits_of(repository.folder, f"--output={tmp_path / 'written'}"))
    assert not (tmp_path / "written").exists()


@pytest.mark.usefixtures("boxes")
async def test_a_commit_makes_a_sealed_task_whose_tests_nobody_sees(repository: Repository, tmp_path: Path) -> None:
    target, commits = tmp_path / "tasks", by_subject(repository)

    async def of(subject: str) -> Mined:
        return await mined(repository.folder, commits[subject], target, origin="Own Sums", bar=None)

    made = await of("Count n itself: total(4) is 10")
    assert made.why == "" and made.puzzle == f"own-sums-{made.commit.id[:10]}"
    puzzle = load_puzzle(target / made.puzzle)
    assert puzzle.prompt.startswith("Count n itself: total(4) is 10\n\nIt concerns `calc/sums.py`.")
    assert puzzle.files["calc/sums.py"].decode() == WRONG and b"counts" not in puzzle.files["tests/test_sums.py"]
    assert not self_reported(puzzle)
    check, *_ = json.loads((target / made.puzzle / "oracle/checks.json").read_text())["checks"]
    assert check["target"] == ":sealed" and len(check["cases"][0]["expect"]) == 2
    assert (await of("Count n itself: total(4) is 10")).why == "it is there already"
    assert (await of("Write it down")).why == "no test of 3 fails before it and passes after it"
    assert "its message does not say what is to be done" in (await of("wip")).why
    assert [path.name for path in target.iterdir()] == [made.puzzle]
    assert await SealedGrader().overlays(puzzle, "gold")


@pytest.mark.usefixtures("boxes")
async def test_a_model_writes_the_statement_where_it_is_asked(repository: Repository, tmp_path: Path) -> None:
    commit, seen = by_subject(repository)["Count n itself: total(4) is 10"], list[Request]()

    def answer(request: Request) -> str:
        seen.append(request)
        return "`total(n)` leaves n out." if len(seen) == 1 else "UNCLEAR"

    async def draft(about: str) -> str:
        return await drafted(scripted(answer), "a/model", about)

    made = await mined(repository.folder, commit, tmp_path / "one", origin="own", draft=draft, bar=None)
    assert load_puzzle(tmp_path / "one" / made.puzzle).prompt.startswith("`total(n)` leaves n out.")
    asked = seen[0].messages[0].content
    assert (
        material(repository.folder, commit) in asked
        and "<<<COMMIT " in asked
        and "+    return sum(range(1, n + 1))" in asked
    )
    left = await mined(repository.folder, commit, tmp_path / "two", origin="own", draft=draft, bar=None)
    assert left.why == "the model that drafts statements finds it unclear" and not (tmp_path / "two").exists()


def test_mutants_of_a_change_are_made_in_the_lines_that_it_wrote() -> None:
    before = "def a(n):\n    return n + 1\n\n\ndef b(n):\n    x = 3\n    return n - x\n"
    after = before.replace("x = 3", "x = 4")
    assert {where.split(",")[0] for where, _ in mutants("m.py", after, before, written=True)} == {"m.py: line 6"}
    assert len({where.split(",")[0] for where, _ in mutants("m.py", after, before)}) > 2


def test_no_program_that_a_repository_names_is_run_on_the_host(repository: Repository, tmp_path: Path) -> None:
    ran, program = tmp_path / "ran", tmp_path / "program"
    program.write_text(f'#!/bin/sh\necho "$0 $*" >> {ran}\n')
    program.chmod(0o755)
    for name in ("core.fsmonitor", "core.pager", "core.sshCommand", "diff.external", "diff.evil.textconv",
                 "diff.evil.command", "filter.evil.smudge", "gpg.program", "core.editor"):  # fmt: skip
        repository.git("config", name, str(program))
    for name, value in (("log.showSignature", "true"), ("remote.origin.url", "ssh://nowhere/x"),
                        ("remote.origin.promisor", "true"), ("extensions.partialClone", "origin")):  # fmt: skip
        repository.git("config", name, value)
    (repository.folder / ".gitattributes").write_text("*.py diff=evil filter=evil\n")
    (repository.folder / ".git/info/attributes").write_text("*.py diff=evil filter=evil\n")
    ran.unlink(missing_ok=True)
    commit = by_subject(repository)["Count n itself: total(4) is 10"]
    assert "return sum(range(1, n + 1))" in material(repository.folder, commit)
    assert tree_of(repository.folder, commit.id)["calc/sums.py"].decode() == RIGHT
    with pytest.raises(ConfigurationError):
        tree_of(repository.folder, "0" * 40)  # which is not there, so that git would fetch it
    assert not ran.exists(), ran.read_text()
