"""`criticality check` in continuous integration: what was adopted still holds, and what changed is named."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from tests.commands import Commands, Done, bare_world

from assay.protocols.criticality.report.adopt_story import AdoptFold
from criticality.adopt.adopting import Adoption, Finding
from criticality.adopt.checking import check, read_adopted
from criticality.adopt.deciding import kept, owed
from criticality.adopt.events import FunctionJudged, PackageRead
from criticality.adopt.proposing import Proposal
from criticality.adopt.writing import write_adoption, write_decisions
from criticality.languages import adopter
from criticality.languages.base.toolchain.dependencies import cache_root
from criticality.standing import chosen
from llm_runtime.errors import ConfigurationError

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


CLAMPED = '''def clamp(value: int, low: int, high: int) -> int:
    """Return the value, no lower than low and no higher than high; ValueError where low is above high."""
    if value < low:
        return low
    return high if value > high else value


def first(text: str) -> str:
    """Return the first letter, or nothing."""
    return text[0]
'''
RAISES = "ENSURES: low > high implies raises(ValueError)"


@pytest.fixture
def deviating(tmp_path: Path) -> Path:
    """The folder of an adoption that found two deviations, each with its case."""
    module = tmp_path / "words.py"
    module.write_text(CLAMPED)
    python = adopter(module)
    package = python.read(module)
    functions = {one.name: one for one in chosen(package, ["*"])}
    errors = {"ValueError": "low is above high"}
    params = ["value: Int", "low: Int", "high: Int"]
    between = "ENSURES: low <= high implies low <= result and result <= high"
    clamp = Proposal(params=params, returns="Int", doc="By hand.", contracts=[between], errors=errors)
    may = "ENSURES: True or raises(IndexError)"
    head = Proposal(
        params=["text: Text"], returns="Text", doc="By hand.", contracts=[may], errors={"IndexError": "if empty"}
    )  # fmt: skip
    found = {
        "clamp": Finding(
            kind="finding", promise=RAISES, case="value=0, low=1, high=0; the result was 1", because="it says so",
            owed=Proposal(contracts=[RAISES], errors=errors),
        ),
        "first": Finding(
            kind="finding", promise="no error but those that the contract promises",
            case="text=''; it raised IndexError('string index out of range')", because="or nothing", allowed=may,
        ),
    }  # fmt: skip
    adoptions = [
        Adoption(
            function=functions[name].shown, id=functions[name].id, digest=functions[name].digest,
            doc=functions[name].doc, proposal=promised, findings=[found[name]],
        )
        for name, promised in (("clamp", clamp), ("first", head))
    ]  # fmt: skip
    folder = tmp_path / "words-adopted"
    write_adoption(
        folder, python, package, {one.id: one for one in functions.values()}, adoptions, {}, "a box", "run-1"
    )
    return folder


@pytest.fixture
def decided(commands: Commands, tmp_path: Path) -> Callable[..., Awaitable[Done]]:
    async def run(*arguments: str) -> Done:
        return await commands.run("build", "decide", *arguments, cwd=tmp_path, env=bare_world(tmp_path))

    return run


async def test_deviations_are_shown_as_docstring_against_behaviour(decided: Any, deviating: Path) -> None:
    done = await decided(deviating.name)
    assert done.code == 0 and "2 open" in done.err, done.err
    for words in (
        "words.clamp#1: open", "docstring  Return the value", f"promised   {RAISES}",
        "case       clamp(value=0, low=1, high=0)", "instead    the result was 1", "case       first(text='')",
    ):  # fmt: skip
        assert words in done.out, words
    wrong = await decided(deviating.name, "--accept", "words.clamp#7")
    assert wrong.code == 2 and "has no deviation words.clamp#7; there are: words.clamp#1, words.first#1" in wrong.err
    both = await decided(deviating.name, "--accept", "words.clamp#1", "--reject", "words.clamp#1")
    assert both.code == 2 and both.err.count("\n") == 1


async def test_what_is_accepted_is_held_and_what_is_rejected_is_owed(deviating: Path) -> None:
    write_decisions(deviating, {"words.clamp#1": "accepted", "words.first#1": "rejected"})
    record, _, package = read_adopted(deviating)
    functions = {one.shown: one for one in package.candidates}
    clamp, first = record.adoptions
    (stands,) = kept(functions["words.clamp"], clamp).claims
    assert (stands.source, stands.tests[0].steps, stands.tests[0].check) == (
        "person", ["shown = clamp(0, 1, 0)"], ["shown == 1"],
    )  # fmt: skip
    assert owed(functions["words.clamp"], clamp) is None
    back = owed(functions["words.first"], first)
    assert back is not None and back.contracts == []
    assert "; accepted" in (deviating / "trace.md").read_text()
    assert "accepted by a person" in (deviating / "spec" / "claims.toml").read_text()
    # Whoever changes their mind has what there was; a function that has changed meanwhile is not decided on.
    write_decisions(deviating, {"words.clamp#1": "rejected"})
    back = owed(functions["words.clamp"], read_adopted(deviating)[0].adoptions[0])
    assert back is not None and RAISES in back.contracts and back.claims == []
    (deviating.parent / "words.py").write_text(CLAMPED.replace("value < low", "low > value"))
    with pytest.raises(ConfigurationError, match=r"words\.clamp has changed since it was adopted"):
        write_decisions(deviating, {"words.clamp#1": "accepted"})


async def test_labels_of_the_browser_decide_what_is_open(decided: Any, deviating: Path, tmp_path: Path) -> None:
    table = "case,place,agreed\nwords.clamp,words.clamp#1,accept\nwords.clamp,words.clamp,reject\n"
    (tmp_path / "cases.csv").write_text(table)
    done = await decided(deviating.name, "--labels", "cases.csv", "--reject", "words.first#1")
    assert done.code == 0 and "1 accepted, 1 rejected" in done.err, done.err
    (tmp_path / "cases.csv").write_text(table.replace("accept", "reject"))
    again = await decided(deviating.name, "--labels", "cases.csv")
    assert "1 accepted, 1 rejected" in again.err


@pytest.mark.box
async def test_a_build_fails_until_what_was_rejected_is_mended(checked: Any, decided: Any, deviating: Path) -> None:
    await decided(deviating.name, "--reject", "words.clamp#1", "--accept", "words.first#1")
    done = await checked(deviating.name, "--json")
    found = {one["function"]: one for one in json.loads(done.out)}
    assert (done.code, found["words.first"]["standing"]) == (1, "holds")
    assert found["words.clamp"]["standing"] == "rejected" and "ValueError" in found["words.clamp"]["what"][0]
    mended = CLAMPED.replace(
        "    if value < low", "    if low > high:\n        raise ValueError(low)\n    if value < low"
    )
    (deviating.parent / "words.py").write_text(mended)
    done = await checked(deviating.name)
    assert done.code == 0, (done.out, done.err)
    # What was accepted is promised: an answer that the docstring would like better is a change of it.
    (deviating.parent / "words.py").write_text(mended.replace("text[0]", "text[:1]"))
    done = await checked(deviating.name)
    assert done.code == 1 and "words.first: broken" in done.out


async def test_a_deviation_is_a_case_with_labels_on_the_page_of_the_run(deviating: Path) -> None:
    adoptions = read_adopted(deviating)[0].adoptions
    fold = AdoptFold()
    fold.apply(PackageRead(package="words", functions=[one.function for one in adoptions], left_out={}), 0)
    for one in adoptions:
        fold.apply(FunctionJudged(function=one.function, adoption=one.model_dump(mode="json")), 0)
    bench = fold.story().bench
    assert bench is not None
    cases = bench()
    assert [case.place for case in cases.cases] == ["words.clamp", "words.clamp#1", "words.first", "words.first#1"]
    assert cases.labels[:2] == ("accept", "reject")
    deviation = cases.cases[1]
    assert deviation.state == "failed"
    shown = str(list(deviation.detail()))
    for words in ("ValueError where low is above high.", RAISES, "clamp(value=0, low=1, high=0)", "the result was 1"):
        assert words in shown, words
