"""Try the tests on changes that they have to see: `python -m tools.mutants [NUMBER | PART OF A FILE'S NAME]...`.

Each mutant of tools/mutants.toml is put into a copy of the project, and its tests are run there as `make test` runs
them. One that they do not see is alive. More than three alive, a text that does not stand once in its file, and
tests that fail without any mutant end with 1.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

LIST = Path("tools/mutants.toml")
MOST_ALIVE = 3
#: Seconds after which the tests of a mutant, or one of them, are taken to have no end, which is seen too.
_LONGEST_S = 600
_ALONE = ("-p", "no:cacheprovider", "--timeout", "60")
_LEFT_OUT = (".git", ".venv*", ".hypothesis", ".*_cache", "out", "dist", "build")


class Mutant(NamedTuple):
    """One change: of ``old`` to ``new`` in a file, with the tests that are to see it and what would come of it."""

    number: int
    file: str
    old: str
    new: str
    tests: tuple[str, ...]
    why: str

    def put_into(self, text: str) -> str:
        """Return a file's text with the change. Raises ``ValueError`` where it is not of one place there."""
        if (times := text.count(self.old)) != 1:
            raise ValueError(f"{LIST}, mutant {self.number}: {self.old.strip()!r} stands {times} times in {self.file}")
        return text.replace(self.old, self.new)


def mutants(root: Path) -> list[Mutant]:
    """Return all mutants of a project, in the order of its list."""
    listed = tomllib.loads((root / LIST).read_text(encoding="utf-8"))["mutant"]
    return [Mutant(number, **{**one, "tests": tuple(one["tests"])}) for number, one in enumerate(listed, 1)]


def misplaced(root: Path, listed: list[Mutant]) -> Iterator[str]:
    """Yield a line for each mutant that is no change of a text, or whose tests are not there."""
    for one in listed:
        try:
            if one.put_into((root / one.file).read_text(encoding="utf-8")) and one.old == one.new:
                yield f"{LIST}, mutant {one.number}: it changes nothing"
        except (OSError, ValueError) as fault:
            yield str(fault)
        yield from (
            f"{LIST}, mutant {one.number}: there is no {test}" for test in one.tests if not (root / test).exists()
        )


def marks(root: Path) -> str:
    """Return the marks that `make test` chooses by."""
    line = re.search(r"^RESOURCES := (.+)$", (root / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    assert line is not None
    return f"not ({line[1]} or long)"


def passes(copy: Path, tests: tuple[str, ...], chosen: str) -> bool:
    """Tell whether tests pass in a copy of a project. Raises ``RuntimeError`` where there are none to run."""
    command = [sys.executable, "-m", "pytest", "-q", "-x", *_ALONE, "-m", chosen, *tests]
    environment = {**os.environ, "PYTHONPATH": str(copy / "src")}
    with subprocess.Popen(
        command, cwd=copy, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True
    ) as process:
        try:
            said, _ = process.communicate(timeout=_LONGEST_S)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            return False
    if process.returncode in (4, 5):
        raise RuntimeError(f"no tests were run:\n{said.decode(errors='replace')[-2000:]}")
    return process.returncode == 0


def survives(copy: Path, mutant: Mutant, chosen: str) -> bool:
    """Tell whether a mutant lives: its tests pass in a copy that has it. The copy is as before afterwards."""
    path = copy / mutant.file
    before = path.read_text(encoding="utf-8")
    try:
        _write(path, mutant.put_into(before))
        return passes(copy, mutant.tests, chosen)
    finally:
        _write(path, before)


def _write(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")
    # Byte code is known by time and size alone, and two of these are made within a second.
    for kept in path.parent.glob(f"__pycache__/{path.stem}.*.pyc"):
        kept.unlink()


def main(arguments: list[str]) -> int:
    """Try each mutant, or those that are named, and print what became of it."""
    root = Path.cwd()
    listed = mutants(root)
    if faults := list(misplaced(root, listed)):
        print(*faults, sep="\n")
        return 1
    tried = [one for one in listed if not arguments or any(a == str(one.number) or a in one.file for a in arguments)]
    chosen, alive, began = marks(root), 0, time.monotonic()
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        copy = Path(folder) / "copy"
        shutil.copytree(root, copy, symlinks=True, ignore=shutil.ignore_patterns(*_LEFT_OUT))
        if not passes(copy, tuple(dict.fromkeys(test for one in tried for test in one.tests)), chosen):
            print("the tests fail without any mutant")
            return 1
        for one in tried:
            start = time.monotonic()
            lives = survives(copy, one, chosen)
            alive += lives
            print(
                f"{one.number:3}  {'ALIVE ' if lives else 'killed'}  {time.monotonic() - start:5.1f} s  "
                f"{one.file}: {one.why}",
                flush=True,
            )
    print(f"{len(tried)} mutants, {alive} alive, {(time.monotonic() - began) / 60:.0f} min")
    return 1 if alive > MOST_ALIVE else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
