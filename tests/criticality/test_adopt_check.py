"""`criticality check` in continuous integration: what was adopted still holds, and what changed is named."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from tests.commands import Commands, Done, bare_world

from criticality.adopt.adopting import Adoption
from criticality.adopt.checking import check
from criticality.adopt.proposing import Proposal
from criticality.adopt.writing import write_adoption
from criticality.languages import adopter
from criticality.languages.base.toolchain.dependencies import cache_root
from criticality.standing import chosen

WORDS = '''def slug(text: str) -> str:
    """Return the words of a text, joined."""
    return "-".join(text.split())


def half(n: int) -> int:
    """Return the half, rounded down."""
    return n // 2


def twice(n: int) -> int:
    """Return the double."""
    return n + n


def next_one(n: int) -> int:
    """Return the number behind."""
    return n + 1
'''
PROMISED = {
    "slug": (["text: Text"], "Text", "ENSURES: ' ' not in result"),
    "half": (["n: Int"], "Int", "ENSURES: 2 * result <= n and n <= 2 * result + 1"),
    "twice": (["n: Int"], "Int", "ENSURES: result == 2 * n"),
    "next_one": (["n: Int"], "Int", "ENSURES: result > n"),
}
#: What a colleague does later: one breaks its promise, one is written anew, one takes other values, one is gone.
LATER = (
    WORDS.replace('"-".join', '" ".join')
    .replace("return n + n", "return 2 * n")
    .replace("def half(n: int)", "def half(number: int)")
    .replace("return n // 2", "return number // 2")
    .partition("\n\ndef next_one")[0]
)


@pytest.fixture
def adopted(tmp_path: Path) -> Path:
    """A package with four functions, and the folder that an adoption of them leaves."""
    module = tmp_path / "words.py"
    module.write_text(WORDS)
    python = adopter(module)
    package = python.read(module)
    functions = {one.id: one for one in chosen(package, ["*"])}
    adoptions = [
        Adoption(
            function=one.shown, id=one.id, digest=one.digest,
            proposal=Proposal(params=params, returns=returns, doc="Written by hand.", contracts=[clause]),
        )
        for one in functions.values()
        for params, returns, clause in [PROMISED[one.name]]
    ]  # fmt: skip
    folder = tmp_path / "words-adopted"
    write_adoption(folder, python, package, functions, adoptions, {}, "a box")
    return folder


@pytest.fixture
def checked(commands: Commands, tmp_path: Path) -> Callable[..., Awaitable[Done]]:
    async def run(*arguments: str) -> Done:
        world = bare_world(tmp_path, CRITICALITY_CACHE=str(cache_root()))
        return await commands.run("build", "check", *arguments, cwd=tmp_path, env=world)

    return run


@pytest.mark.box
async def test_a_build_fails_where_a_promise_is_broken_and_names_what_changed(checked: Any, adopted: Path) -> None:
    fine = await checked(adopted.name)
    assert (fine.code, fine.err.strip()) == (0, "4 holds"), fine.err
    (adopted.parent / "words.py").write_text(LATER)
    done = await checked(adopted.name, "--json", "--sarif", "out.sarif")
    assert done.code == 1, done.err
    found = {one["function"]: one for one in json.loads(done.out)}
    standings = {name.removeprefix("words."): one["standing"] for name, one in found.items()}
    assert standings == {"slug": "broken", "half": "refitted", "twice": "changed", "next_one": "gone"}
    assert "' ' not in result does not hold for text=" in found["words.slug"]["what"][0]
    (run,) = json.loads((adopted.parent / "out.sarif").read_text())["runs"]
    levels = {one["ruleId"]: one["level"] for one in run["results"]}
    assert levels == {
        "adopted/broken": "error", "adopted/refitted": "error", "adopted/changed": "note", "adopted/gone": "error",
    }  # fmt: skip
    (broken,) = [one for one in run["results"] if one["ruleId"] == "adopted/broken"]
    place = broken["locations"][0]["physicalLocation"]
    assert (place["artifactLocation"]["uri"], place["region"]["startLine"]) == ("words.py", 1)
    assert {one["id"] for one in run["tool"]["driver"]["rules"]} >= set(levels)


@pytest.mark.box
async def test_what_cannot_be_looked_at_is_no_broken_promise(checked: Any, adopted: Path, tmp_path: Path) -> None:
    (adopted.parent / "words.py").write_text(f"import nothing_of_this_name\n{WORDS}")
    found = await check(adopted)
    assert {one.standing for one in found} == {"unjudged"}
    assert "No module named 'nothing_of_this_name'" in found[0].what[0]
    done = await checked(adopted.name)
    assert done.code == 2 and "4 unjudged" in done.err


async def test_a_folder_without_an_adoption_is_one_line(checked: Any, adopted: Path) -> None:
    done = await checked(".")
    assert done.code == 2 and "has no adopted.json" in done.err and done.err.count("\n") == 1
    (adopted / "adopted.json").write_text('{"package": 1}')
    done = await checked(adopted.name)
    assert done.code == 2 and "does not fit at" in done.err and done.err.count("\n") == 1
