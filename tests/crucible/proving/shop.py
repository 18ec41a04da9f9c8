"""A small shop in Git: a base with tests and words, and changes to it, each with the witnesses that it deserves."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

from crucible.proving import BoxRequest, ProvenChange, Ran, Run, States, judge, read_change
from crucible.proving.records import Edit, FailedTest, Proof, TestRun, Witness

#: Without the plugins that happen to be installed, which take longer than what is tested.
_PLUGINS = sorted({one.name for one in entry_points(group="pytest11")})
COMMAND = " ".join(["python -m pytest -q", *(f"-p no:{name}" for name in _PLUGINS), "{file}"])
BASE = {
    "README.md": """# Shop

`split_every` splits a list into parts of equal length; the last may be shorter than the others.

    >>> from shop.lists import join_names
    >>> join_names(["a", "b"])
    'a and b'

`discount` never makes a price negative, whatever the percentage may be.
""",
    "shop/__init__.py": "",
    "shop/lists.py": '''"""Lists."""

LIMIT = 3


def split_every(items: list[int], size: int) -> list[list[int]]:
    """Split into parts of equal length.

    The last part may well be shorter.
    """
    return [items[at : at + size] for at in range(0, len(items), size)]


def first(items: list[int]) -> int:
    if not items:
        return 0
    return items[0]


def join_names(names):
    """Join names with commas and one and."""
    if len(names) < 2:
        return "".join(names)
    return ", ".join(names[:-1]) + " and " + names[-1]


def count_down(start: int) -> int:
    steps = 0
    while start > 0:
        start -= 1
        steps += 1
    return steps


def longest(items):
    return max(items, key=len)
''',
    "shop/prices.py": '''"""Prices."""


def discount(price: float, percent: float) -> float:
    return max(price * (100 - percent) / 100, 0)


def total(prices: list[float]) -> float:
    return sum(prices)


def label(price):
    return f"{price:.2f} EUR"
''',
    "tests/test_lists.py": """from shop.lists import count_down, first, join_names, longest, split_every


def test_split_every():
    assert split_every([1, 2], 1) == [[1], [2]]


def test_first():
    assert first([1, 2]) == 1


def test_join_names():
    assert join_names(["a", "b", "c"]) == "a, b and c"


def test_count_down():
    assert count_down(2) == 2


def test_longest():
    assert longest(["a", "bb"]) == "bb"
""",
    "tests/test_prices.py": """from shop.prices import discount, label, total


def test_discount():
    assert discount(10, 50) == 5


def test_total():
    assert total([1, 2]) == 3


def test_label():
    assert label(1) == "1.00 EUR"
""",
}


def git(folder: Path, *words: str) -> str:
    command = ["git", "-C", str(folder), "-c", "user.name=A", "-c", "user.email=a@example.com", *words]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def write(folder: Path, files: Mapping[str, str]) -> None:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)


class Shop:
    """The checkout: its base is committed, and so is each change."""

    def __init__(self, folder: Path, base: Mapping[str, str] = BASE, command: str = COMMAND) -> None:
        self.folder, self.base, self.command = folder, dict(base), command
        folder.mkdir()
        git(folder, "init", "-q", "-b", "main")
        write(folder, base)
        git(folder, "add", "-A")
        git(folder, "commit", "-q", "-m", "base")

    def change(self, path: str, *edits: tuple[str, str], more: Mapping[str, str] | None = None) -> ProvenChange:
        """Commit an edited file, and other files; return the change."""
        text = (self.folder / path).read_text()
        for old, new in edits:
            assert text.count(old) == 1, old
            text = text.replace(old, new)
        write(self.folder, {path: text, **(more or {})})
        git(self.folder, "add", "-A")
        git(self.folder, "commit", "-q", "-m", "change")
        return read_change("HEAD~1..HEAD", self.command, at=self.folder)

    async def judged(self, change: ProvenChange, witness: Witness, *places: str) -> Proof:
        """Judge one witness."""
        with States(change, at=self.folder) as run:
            return await judge(change, witness, places, "f1", run)


def witness(body: str, *fix: tuple[str, str], path: str = "shop/lists.py", quote: str = "", **more: str) -> Witness:
    """A witness: a test's body below `from shop.lists import *`-like imports, and edits of one file."""
    head = "import pytest\n\nfrom shop import lists, prices\n\n\n"
    test = (
        body
        if body.startswith(("import", "from"))
        else f"{head}def test_it():\n" + "".join(f"    {line}\n" for line in body.split("\n"))
    )
    return Witness(test=test, fix=[Edit(path=path, old=old, new=new) for old, new in fix], quote=quote, **more)


def told(change: ProvenChange, kind: str = "assertion", **more: Any) -> Run:
    """A box that says what a true one would of a witness for `first`: it fails on the head, and nowhere else.

    More: how it fails, and what its test says of laws on the ``head`` and on the ``base``.
    """

    async def run(ask: BoxRequest) -> Ran:
        first, name = "shop/lists.py:first", f"{change.place}::test_it"
        if change.place not in ask.files:
            one = TestRun(name="tests/test_lists.py::test_first", outcome="passed", touches=[first])
            return Ran(key=ask.key, code=0, tests=[one])
        changed = {one.path: one.head for one in change.files}
        fails = ask.tree == change.head and all(ask.files.get(path, text) == text for path, text in changed.items())
        how = {"kind": kind, "test": name, "type": "TypeError", "line": 7, "at": "shop/lists.py:14", **more}
        failure = FailedTest.model_validate(how) if fails else None
        outcome, laws = ("failed", more.get("head", [])) if fails else ("passed", more.get("base", []))
        one = TestRun(name=name, outcome=outcome, failure=failure, last=[first], laws=laws)
        return Ran(key=ask.key, code=int(fails), tests=[one], ran=[first])

    return run
