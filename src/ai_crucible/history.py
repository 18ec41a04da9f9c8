"""Tasks out of the history of one's own repository: commits whose tests fail before them and pass after.

Git is read by its plumbing alone; nothing of a repository is run but in boxes. A commit makes a task where it changes
Python files and tests of them: a solver finds the repository as it was, the tests as they became are hidden and
sealed. It is admitted where they tell the two apart twice over, refuse mutants of the lines that the commit wrote, and
refuse every cheat.
"""

from __future__ import annotations

import os
import re
import secrets
import shutil
import subprocess
import tempfile
from collections.abc import Awaitable, Callable, Iterator, Mapping
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import TypeAlias

from ai_crucible.attempt import untouched_copy
from ai_crucible.checking import GOLD, Bar, PuzzleCheck, check_puzzle, laid_on
from ai_crucible.grading.edge import GradingFailed, SealedGrader
from ai_crucible.puzzle_files import REPOSITORY, LeftOut, SuiteTask, tests_of, write_puzzle
from ai_crucible.puzzle_loader import PuzzleRefused, load_puzzle
from ai_crucible.sealing import seal
from llm_runtime.errors import ConfigurationError
from llm_runtime.messages import CallLabel, Generate, Message, Request
from llm_runtime.prompts import Fence, load_prompt
from llm_runtime.structs import Struct

Draft: TypeAlias = "Callable[[str], Awaitable[str]]"
"""Writes a statement of what a commit says and changes."""
BAR = Bar(killed=0.8, wrong=0, right=0, inputs=0, draws=0, written=True, most=20, early=True)
"""What the tests of a commit must refuse: few are written to notice every slip."""
_SUITE = "its tests"
_TEST = re.compile(r"(^|/)(tests?|testing)/|(^|/)(conftest|test_[^/]*|[^/]*_tests?)\.py$")
_TRAILER = re.compile(r"^(?:[A-Z][\w-]+-by: .*|Change-Id: .*|git-svn-id: .*)$|(?<!\s)\s*+\(#\d+\)", re.MULTILINE)
_MOST_FILES = 10
_FEWEST_WORDS = 3
_MOST_KEPT = 30
"""Tests of a file that are as they were before, spread evenly."""
_SECONDS = 60
_MOST_MATERIAL = 60_000
_UNCLEAR = "UNCLEAR"


class Commit(Struct):
    """A commit that changes tests and what they test.

    Args:
        id: its digest, in hex.
        parent: that of the one before it.
        message: what its author says, without trailers.
        tests: test files that it adds or changes.
        sources: other Python files that it adds or changes.
    """

    id: str
    parent: str
    message: str
    tests: tuple[str, ...]
    sources: tuple[str, ...]


class Mined(Struct):
    """What came of a commit: a puzzle and its check, or why it makes none."""

    commit: Commit
    puzzle: str
    why: str = ""
    check: PuzzleCheck | None = None


def commits_of(repository: Path, revision: str = "HEAD") -> Iterator[Commit]:
    """Yield the commits that may make tasks, the newest first.

    Args:
        repository: a checkout, or a folder of git's.
        revision: where to begin, or a range, as git takes it.

    Raises:
        ConfigurationError: git is not here, or reads nothing there.
    """
    form = "--format=%x01%H %P%n%B%x02"
    listing = ("--no-merges", "--no-renames", "--no-show-signature", "--name-status")
    log = _git(repository, "log", *listing, form, "--end-of-options", revision, "--")
    found = map(_commit, log.decode("utf-8", "replace").split("\x01")[1:])
    return (commit for commit in found if commit.tests and commit.sources and commit.parent)


def _commit(part: str) -> Commit:
    """Read a commit as git tells it; one that takes Python files away, or changes too many, has no tests."""
    about, _, names = part.partition("\x02")
    ids, _, message = about.partition("\n")
    digest, _, parent = ids.partition(" ")
    paths = re.findall(r"^[AM]\t(.*\.py)$", names, re.MULTILINE)
    if len(paths) > _MOST_FILES or re.search(r"^[^AM]\t.*\.py$", names, re.MULTILINE):
        paths = []
    tests = tuple(filter(_TEST.search, paths))
    sources = tuple(path for path in paths if path not in tests)
    return Commit(digest, parent, _TRAILER.sub("", message).strip(), tests, sources)


def _git(repository: Path, *words: str, stdin: bytes = b"") -> bytes:
    command = ["git", "-C", str(repository), "-c", "core.quotePath=false", "-c", "core.fsmonitor=false", *words]
    # What a clone in part lacks would be fetched, by programs that the repository names.
    environment = {**os.environ, "GIT_ALLOW_PROTOCOL": "none"}
    try:
        return subprocess.run(command, input=stdin, capture_output=True, check=True, env=environment).stdout
    except FileNotFoundError:
        raise ConfigurationError("a history is read by git: install git") from None
    except subprocess.CalledProcessError as fault:
        said = fault.stderr.decode("utf-8", "replace").strip().replace("\n", " ")
        raise ConfigurationError(f"{repository}: git reads no history there: {said[:300]}") from None


def tree_of(repository: Path, commit: str) -> dict[str, bytes]:
    """Return the files of a commit, by path; links and submodules are left out.

    Not as ``git archive`` has them: a repository's attributes may leave tests out of its releases.
    """
    listed = _git(repository, "ls-tree", "-r", "-z", commit).decode("utf-8", "replace")
    blobs = {path: digest for digest, path in re.findall(r"100\d{3} blob (\w+)\t([^\0]+)\0", listed)}
    told = BytesIO(_git(repository, "cat-file", "--batch", stdin="\n".join(blobs.values()).encode()))
    # Before each file stands a line that ends with its size, and behind it the end of a line.
    return {path: told.read(int(told.readline().split()[2]) + 1)[:-1] for path in blobs}


async def mined(
    repository: Path, commit: Commit, target: Path, *, origin: str, draft: Draft | None = None, bar: Bar | None = BAR
) -> Mined:
    """Make a puzzle of a commit below a folder, or say why it makes none.

    Args:
        repository: whose commit it is.
        commit: one of those of :func:`commits_of`.
        target: a folder of puzzles, made where there is none.
        origin: what the puzzle names as its source.
        draft: writes what is to be done; the commit's message says so where left out.
        bar: what its tests are held to; where it is ``None`` they are not tried on mutants and cheats.

    Raises:
        CannotIsolate: this machine gives no box.
    """
    name = f"{re.sub('[^a-z0-9]+', '-', origin.lower()).strip('-')[:40] or 'own'}-{commit.id[:10]}"
    if (target / name).exists():
        return Mined(commit, name, "it is there already")
    with tempfile.TemporaryDirectory() as room:
        check, place = None, Path(room, name)
        try:
            await _seal(repository, commit, place, origin, draft)
            check = await check_puzzle(load_puzzle(place), bar=bar)
            why = "; ".join(check.problems)
            if not why:
                shutil.copytree(place, target / name)
        except (LeftOut, PuzzleRefused, GradingFailed, SyntaxError) as fault:
            why = str(fault)
    return Mined(commit, name, why, check)


async def _seal(repository: Path, commit: Commit, place: Path, origin: str, draft: Draft | None) -> None:
    """Write the puzzle of a commit, its tests sealed.

    Raises:
        LeftOut: its tests tell nothing, or not twice the same, or nobody says what is to be done.
    """
    if not draft and len(commit.message.split()) < _FEWEST_WORDS:
        raise LeftOut("its message does not say what is to be done; --draft MODEL asks a model")
    before, after = tree_of(repository, commit.parent), tree_of(repository, commit.id)
    task = partial(_task, commit, before, after, origin)
    sketch = place.with_name("sketch")
    tests = [name for path in commit.tests for name in _tests(path, before.get(path, b""), after[path])]
    write_puzzle(sketch, task(commit.message, tests).files(place.name, origin))
    names = await _telling(sketch)
    words = await draft(material(repository, commit)) if draft else commit.message
    if words.strip() == _UNCLEAR:
        raise LeftOut("the model that drafts statements finds it unclear")
    write_puzzle(place, task(words, names).files(place.name, origin))
    # The gold is tried anew here: what passed a moment ago must pass again.
    if why := await seal(place):
        raise LeftOut(why)


def _tests(path: str, before: bytes, after: bytes) -> list[str]:
    """Return the tests of a file that are written otherwise than before, and some of the others."""
    old, new = (tests_of(path, text.decode("utf-8", "replace")) for text in (before, after))
    changed = [name for name, text in new.items() if old.get(name) != text]
    others = [name for name in new if name not in changed]
    return changed + others[:: max(1, -(-len(others) // _MOST_KEPT))]


def _task(
    commit: Commit, before: Mapping[str, bytes], after: Mapping[str, bytes], origin: str, words: str, tests: list[str]
) -> SuiteTask:
    about = f"{words}\n\nIt concerns {', '.join(f'`{path}`' for path in commit.sources)}."
    kept = [path for path in commit.sources if path in before]
    if not kept:
        raise LeftOut("it changes no Python file that was there")
    return SuiteTask(
        f"{origin} {commit.id[:10]}",
        f"{about} Tests that you do not see decide.",
        before,
        {path: after[path] for path in commit.sources},
        {path: after[path] for path in commit.tests},
        {_SUITE: tests},
        [{"name": f"{path} is there", "kind": "file", "path": path, "absent": False} for path in kept],
        seconds=_SECONDS,
        meta=REPOSITORY,
    )


async def _telling(folder: Path) -> list[str]:
    """Return the tests that fail on the untouched puzzle and pass on its gold, and those that pass on both.

    Raises:
        LeftOut: there are none of the first.
    """
    grader, puzzle = SealedGrader(), load_puzzle(folder)
    untouched = await untouched_copy(puzzle)
    gold = (await grader.overlays(puzzle, GOLD))[GOLD]

    async def outcomes(work: bytes) -> dict[str, str]:
        learned = (await grader.learned(puzzle, untouched, work, [_SUITE]))[_SUITE]
        return {name: outcome for name, (outcome, _) in learned.items() if name}

    was, now = await outcomes(untouched), await outcomes(laid_on(untouched, gold))
    if not now:
        raise LeftOut("its tests do not come to their end on the commit itself")
    sides: dict[bool, list[str]] = {True: [], False: []}
    for name in (name for name, outcome in now.items() if outcome == "passed"):
        sides[was.get(name) == "passed"].append(name)
    if not sides[False]:
        failing = [f"{name}: {outcome}" for name, outcome in now.items() if outcome != "passed"]
        raise LeftOut("; ".join([f"no test of {len(now)} fails before it and passes after it", *failing[:1]]))
    return sides[False] + sides[True]


def material(repository: Path, commit: Commit) -> str:
    """Return what a commit says and changes, for whoever drafts its statement."""
    change = _git(repository, "diff", "--no-ext-diff", "--no-textconv", commit.parent, commit.id, "--", "*.py")
    return f"{commit.message}\n\n{change[:_MOST_MATERIAL].decode('utf-8', 'replace')}"


async def drafted(generate: Generate, model: str, about: str) -> str:
    """Return the statement that a model writes of a commit's material.

    Raises:
        CallError: it gives no answer.
    """
    label = CallLabel("ai_crucible", "statement")
    prompt = load_prompt("ai_crucible", "statement").render()
    asked = f"{prompt}\n\n{Fence(secrets.randbits(53), label)('COMMIT', about)}"
    return (await generate(Request(model, (Message("user", asked),), label))).text
