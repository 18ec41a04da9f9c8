# ruff: noqa: E501 - each false witness stands on its line
"""False witnesses, each refused by the rule that is meant for it: those that are read, and those that run."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.crucible.proving.shop import BASE, Shop, told, witness

from crucible.behaviour import BEHAVIOUR
from crucible.proving import BoxRequest, ProvenChange, Ran, judge
from crucible.proving.change import ChangedFile, Excerpt, functions, hunks
from crucible.proving.checking import complaint, examples, mended
from crucible.proving.records import Edit, Witness
from llm_runtime.behaviour import behaving

FIRST = ("    if not items:\n        return 0\n    return items[0]\n", "    return items[0]\n")
TRUE, FIX = "assert lists.first([]) == 0", FIRST[::-1]

#: What is refused before anything runs: the test's body, and a part of the reason.
READ = {
    "a branch": ("if lists.first([1]):\n    assert lists.first([]) == 0", "If: a witness goes straight on"),
    "a branch in an expression": ("assert (1 if lists.first([1]) else 2) == 2", "IfExp"),
    "a caught error": ("try:\n    lists.first([])\nexcept IndexError:\n    assert 0", "Try"),
    "a short cut": ("assert lists.first([]) == 0 or lists.first([1])", "BoolOp"),
    "a loop over what is tested": ("for one in range(lists.first([3])):\n    assert lists.first([])", "a loop runs over"),
    "a condition in a loop": ("assert [n for n in [1] if lists.first([n])] == 2", "a comprehension with a condition"),
    "a clock": ("import time\nassert time.time() == lists.first([])", "time may not be used"),
    "today": ("import datetime\nassert datetime.date.today() == lists.first([])", "today may not be used"),
    "chance": ("import random\nassert lists.first([]) == random.random()", "random may not be used"),
    "a file": ("assert open('x').read() == lists.first([])", "open may not be used"),
    "a path": ("import pathlib\nassert pathlib.Path('x').exists() == lists.first([])", "pathlib may not be used"),
    "the system through a module": ("assert lists.os.getcwd() == lists.first([])", "os may not be used"),
    "reflection": ("assert hasattr(lists, 'LIMIT') == lists.first([])", "hasattr may not"),
    "a doc": ("assert lists.first.__doc__ == lists.first([])", "__doc__ may not be used"),
    "a version": ("from shop import __version__\nassert __version__ == lists.first([])", "__version__ may not be used"),
    "a private name": ("assert lists._first([]) == 0", "_first may not be used"),
    "a patch": ("lists.LIMIT = 4\nassert lists.first([]) == 0", "what is imported may not be changed"),
    "a patch within": ("lists.NAMES['a'] = 4\nassert lists.first([]) == 0", "what is imported may not be changed"),
    "a mock": ("from unittest import mock\nassert lists.first([]) == 0", "mock may not be used"),
    "a skip": ("pytest.skip('no')\nassert lists.first([]) == 0", "skip may not be used"),
    "all names": ("from shop.lists import *\nassert first([]) == 0", "may not be used"),
    "an address": ("assert repr(lists.first) == '<function first at 0x7f1234567890>'", "an address"),
    "its source by name": ("assert lists.first(['shop/lists.py']) == 0", "names the file lists.py"),
    "no assertion": ("lists.first([])", "asserts"),
    "no Python": ("assert lists.first([) == 0", "no Python"),
}  # fmt: skip
FIXES = {
    "the test's own literal": (("return items[0]\n", "return items[0] if items != [7] else 0\n"), "stands in the test too"),
    "a public name gone": (("def first(", "def _first("), "first is gone"),
    "a parameter gone": (("def longest(items):", "def longest(*_):"), "longest(items) is gone"),
    "text that is not there": (("def second(", ""), "stands 0 times"),
    "text that is there often": (("items", "things"), "times in shop/lists.py"),
    "no fix": (None, "there is no fix"),
    "who is calling": (("return items[0]\n", "return 0 if 'PYTEST_X' in NAMES else items[0]\n"), "asks who is calling"),
}  # fmt: skip


def _changed() -> ProvenChange:
    text = BASE["shop/lists.py"].replace(*FIRST)
    one = {"path": "shop/lists.py", "was": "shop/lists.py", "base": BASE["shop/lists.py"], "head": text}
    hunk = {"path": "shop/lists.py", "base_first": 15, "head_first": 15, "base_lines": [], "head_lines": []}
    return ProvenChange.model_validate({
        "revisions": "", "command": "python -m pytest {file}", "base": "a", "head": "b", "files": [one],
        "hunks": [hunk], "place": "tests/test_assay_witness.py",
    })  # fmt: skip


async def _never(ask: object) -> Ran:
    raise AssertionError("nothing is run")


@pytest.mark.parametrize(("body", "why"), READ.values(), ids=READ)
async def test_what_a_test_may_not_say_is_refused_without_a_run(body: str, why: str) -> None:
    proof = await judge(_changed(), witness(body, FIX), [], "f", _never)
    assert proof.verdict == "not reproduced" and proof.runs == 0 and why in proof.refused


def test_an_attribute_of_what_a_call_answers_may_be_kept_and_what_is_imported_may_not() -> None:
    kept, alias = (
        witness("size = lists.Part([1]).size\nassert size == 1"),
        witness("alias = lists.Part\nassert alias([1])"),
    )
    assert complaint(_changed(), kept) == ""
    assert "may not be changed or renamed" in complaint(_changed(), alias)
    with behaving([(BEHAVIOUR, 13)]):
        assert "may not be changed or renamed" in complaint(_changed(), kept)


@pytest.mark.parametrize(("call", "fine"), [("first([], id=1).id", True), ("id([])", False), ("exit.exit()", False)])
def test_what_is_tested_may_have_the_names_of_pythons_own_functions(call: str, *, fine: bool) -> None:
    asked = witness(f"assert lists.{call} == 1" if fine else f"assert {call} == 1")
    assert (complaint(_changed(), asked) == "") is fine
    with behaving([(BEHAVIOUR, 18)]):
        assert "may not be used" in complaint(_changed(), asked)


@pytest.mark.parametrize(("fix", "why"), FIXES.values(), ids=FIXES)
async def test_what_a_fix_may_not_do_is_refused_without_a_run(fix: tuple[str, str] | None, why: str) -> None:
    test = "assert lists.first([7]) == 0"
    proof = await judge(_changed(), witness(test, *([fix] if fix else [])), [], "f", _never)
    assert proof.verdict == "not reproduced" and proof.runs == 0 and why in proof.refused


#: What has to run: the body, edits of the fix, the check that refuses it, and a part of its reason.
RUN = {
    "it passes": ("assert lists.first([1]) == 1", FIX, "head", "passes on the head"),
    "a wrong call": ("assert lists.first() == 0", FIX, "base", "its own line fails"),
    "an exit": ("assert lists.stop([]) == 0", FIX, "head", "no failure of what is tested"),
    "it hangs itself": ("assert lists.first([1]) == sum(iter(int, 1))", FIX, "head", "it hangs in its own lines"),
    "a fixture": ("import pytest\n\n\ndef test_it(nothing):\n    assert nothing", FIX, "head", "it fails in setup"),
    "it is wrong everywhere": ("assert lists.first([3]) == 4", FIX, "fix", "does not pass"),
    "the fix breaks others": (TRUE, (FIX[0], "    return 0\n"), "near tests", "test_first"),
    "another place": (TRUE, FIX, "place", "nothing at shop/prices.py:5 runs"),
    "a zone": (
        "zero = 0\nimport datetime\nassert lists.first([]) == datetime.datetime.fromtimestamp(zero).hour", FIX, "surroundings", "(zone)"
    ),
}  # fmt: skip
STOP = ("def longest(", "def stop(items):\n    raise SystemExit(3)\n\n\ndef longest(")


@pytest.mark.box
@pytest.mark.parametrize("name", RUN)
async def test_what_runs_and_shows_nothing_is_refused(shop: Shop, name: str) -> None:
    body, fix, check, why = RUN[name]
    change = shop.change("shop/lists.py", FIRST, STOP)
    place = "shop/prices.py:5" if name == "another place" else "shop/lists.py:15"
    proof = await shop.judged(change, witness(body, fix), place)
    assert proof.verdict == "not reproduced" and why in proof.refused, proof
    assert proof.checks[-1].check == check and not proof.checks[-1].ok and (check != "head" or proof.runs == 1)


@pytest.mark.box
async def test_a_crash_on_a_type_that_nobody_promised_is_a_change(shop: Shop) -> None:
    edit = ("    return sum(prices)\n", "    return sum(prices) + prices[0] * 0\n")
    change = shop.change("shop/prices.py", edit)
    true = witness("assert prices.total({1: 2}) == 1", edit[::-1], path="shop/prices.py")
    proof = await shop.judged(change, true)
    assert (proof.verdict, proof.oracle) == ("changed", "none"), proof


@pytest.mark.box
async def test_a_crash_beside_what_a_docstring_excludes_is_a_change(shop: Shop) -> None:
    doc = '    """Return the first item; the list must not be empty."""\n'
    base = BASE["shop/lists.py"].replace(
        "def first(items: list[int]) -> int:\n", "def first(items: list[int]) -> int:\n" + doc
    )
    shop.change("shop/lists.py", (BASE["shop/lists.py"], base))
    proof = await shop.judged(shop.change("shop/lists.py", FIRST), witness(TRUE, FIX))
    assert (proof.verdict, proof.oracle) == ("changed", "none"), proof


MODES = '''CHOSEN = [""]


def choose(name):
    CHOSEN[:] = [name]


def share(part, whole):
    """Return a share.

    >>> choose("lenient")
    >>> share(1, 0)
    0
    >>> choose("")
    """
    mode = CHOSEN[0] or "lenient"
    return 0 if mode == "lenient" and not whole else part / whole
'''


#: Pages, what stands above an example on them, and whether it says what holds now.
PAGES = [
    ("docs/lists.md", "Of nothing it is nought:\n\n", True),
    ("docs/lists.md", "It changes nothing of what it is given.\n\n", True),
    ("docs/exchanges.md", "", True),
    ("CHANGELOG.md", "## 1.0\n\nThe first release:\n\n", False),
    ("docs/changes.rst", "1.0\n---\n\n", False),
    ("HISTORY.md", "1.0\n\n", False),
    ("docs/releases/1.0.md", "# 1.0\n\n", False),
    ("RELEASE_NOTES.md", "# 1.0\n\n", False),
    ("docs/migrating.md", "# From 1 to 2\n\n", False),
    ("docs/lists.md", "Previously:\n", False),
    ("docs/lists.md", "Previously:\n\n```pycon\n", False),
    ("docs/lists.md", "# Known bugs\n\nThis is wrong, and will be mended:\n\n", False),
    ("docs/lists.md", "What it used to say:\n\n", False),
]


@pytest.mark.parametrize(("path", "above", "holds"), PAGES)
def test_an_example_of_what_was_says_nothing_of_what_is(tmp_path: Path, path: str, above: str, holds: bool) -> None:
    page = f"# Page\n\n{above}>>> from shop.lists import first\n>>> first([])\n0\n"
    change = Shop(tmp_path / "checkout", {**BASE, path: page}).change("shop/lists.py", FIRST)
    texts = [one.text for one in change.docs if one.path == path]
    assert texts and any(map(examples, texts)) is holds


@pytest.mark.box
async def test_an_example_that_still_holds_where_it_stands_is_not_broken(shop: Shop) -> None:
    edit = ('or "lenient"', 'or "strict"')
    shop.change("shop/lists.py", ("LIMIT = 3", "LIMIT = 4"), more={"shop/modes.py": MODES})
    body = "from shop import modes\n\n\ndef test_it():\n    assert modes.share(1, 0) == 0\n"
    change = shop.change("shop/modes.py", edit)
    proof = await shop.judged(change, witness(body, edit[::-1], path="shop/modes.py"))
    assert (proof.verdict, proof.oracle) == ("changed", "none"), proof


@pytest.mark.parametrize(("falls", "shows"), [("half", "example"), ("total", "none")])
async def test_an_example_of_a_near_test_counts_where_this_test_fails(shop: Shop, falls: str, shows: str) -> None:
    other = "\n\ndef test_half():\n    assert first([2, 3]) == 2\n"
    shop.change(
        "shop/lists.py", ("LIMIT = 3", "LIMIT = 4"), more={"tests/test_lists.py": BASE["tests/test_lists.py"] + other}
    )
    change, asked = shop.change("shop/lists.py", FIRST), witness("assert lists.first([2, 3]) == 2", FIX)

    async def run(ask: BoxRequest) -> Ran:
        ran = await told(change)(ask)
        outcome = "passed" if ask.files or ask.sealed else "failed"
        one = ran.tests[0].model_copy(update={"name": f"tests/test_lists.py::test_{falls}", "outcome": outcome})
        return ran if change.place in ask.files else ran.model_copy(update={"tests": [one]})

    for number, oracle in ((19, shows), (18, "example")):
        with behaving([(BEHAVIOUR, number)]):
            assert (await judge(change, asked, [], "f", run)).oracle == oracle


@pytest.mark.box
async def test_a_class_that_bears_a_builtin_name_is_not_what_was_promised(shop: Shop) -> None:
    body = "kind = type('list', (list,), {'copy': None})\nassert lists.first(kind()) == 0"
    proof = await shop.judged(shop.change("shop/lists.py", FIRST), witness(body, FIX))
    assert (proof.verdict, proof.oracle) == ("changed", "none"), proof


async def test_words_that_stand_nowhere_argue_nothing_and_the_change_stays_one(shop: Shop) -> None:
    change, true = shop.change("shop/lists.py", FIRST), witness(TRUE, FIX, quote="an empty list has nothing first")
    proof = await judge(change, true, [], "f", told(change))
    assert (proof.verdict, proof.oracle, proof.words) == ("changed", "none", "")
    assert ["stand nowhere" in check.what for check in proof.checks if check.check == "quotation"] == [True]
    with behaving([(BEHAVIOUR, 9)]):
        proof = await judge(change, true, [], "f", told(change))
    assert proof.verdict == "not reproduced" and "stand nowhere" in proof.refused


async def test_a_line_of_the_test_that_failed_not_before_the_change_shows_a_change(shop: Shop) -> None:
    change, true = shop.change("shop/lists.py", FIRST), witness(TRUE, FIX)
    proof = await judge(change, true, [], "f", told(change, "own"))
    assert (proof.verdict, proof.oracle) == ("changed", "none")
    with behaving([(BEHAVIOUR, 9)]):
        proof = await judge(change, true, [], "f", told(change, "own"))
    assert proof.verdict == "not reproduced" and proof.runs == 1 and "its own line fails" in proof.refused


async def test_the_quickest_near_tests_of_files_that_stay_run_before_a_witness_and_with_a_fix_untraced() -> None:
    change, asked = (
        _changed().model_copy(update={"near": [Excerpt(path="tests/t.py", line=1, text="")]}),
        list[BoxRequest](),
    )
    slow = [
        {"name": f"tests/t.py::test_{at}", "outcome": "passed", "seconds": 60.0 - at, "touches": ["x"]}
        for at in range(60)
    ]

    async def run(ask: BoxRequest) -> Ran:
        asked.append(ask)
        kept = Ran.model_validate({"key": ask.key, "code": 0, "tests": slow})
        return await told(change)(ask) if change.place in ask.files else kept

    for number, first, altered in ((14, "test_59", ""), (13, "test_0", ""), (14, "test_it", "tests/t.py")):
        asked.clear()
        change = change.model_copy(update={"altered": {altered: ""}})
        with behaving([(BEHAVIOUR, number)]):
            assert (await judge(change, witness(TRUE, FIX), [], "f", run)).verdict == "changed"
        before = [ask.select for ask in asked if ask.around == "after" and change.place in ask.files]
        kept = [ask.around for ask in asked if change.place not in ask.files]
        if altered:
            assert before == [[change.place]] * 3
        else:
            assert {one[0].rpartition(":")[2] for one in before} == {first} and {len(one) for one in before} == {41}
        assert kept == ["plain", "plain" if number == 13 else "after"]


@pytest.mark.parametrize(
    ("command", "path", "test", "fine"),
    [
        ("node --test {file}", "m.js", "import assert from 'node:assert';\nimport { f } from './m.js';\nf();", True),
        ("node --test {file}", "m.mjs", "const { f } = await import('../m.mjs');\nf();", True),
        ("node --test {file}", "m.js", "const t = readFileSync('./m.js');", False),
        ("node --test {file}", "m.js", "import fs from 'node:fs'; fs.readFileSync('m.js')", False),
        ("sh {file}", "add.sh", '. ./add.sh\n[ "$(add 1)" = 2 ]', True),
        ("sh {file}", "add.sh", "  source './lib/add.sh'\nadd 1", True),
        ("sh {file}", "add.sh", "grep -q x add.sh", False),
        ("make check TEST={file}", "m.h", '#include "m.h"\nint main() { return f(); }', True),
        ("php {file}", "m.php", "require_once('m.php');\nf();", True),
        ("php {file}", "m.php", "echo file_get_contents('m.php');", False),
        ("python -m pytest {file}", "m.py", "from m import f\n\n\ndef test_f():\n    assert f() == 'm.py'\n", False),
    ],
)
def test_what_a_test_imports_by_its_file_is_no_file_that_it_reads(
    command: str, path: str, test: str, fine: bool
) -> None:
    change = ProvenChange(
        command=command, files=[ChangedFile(path=path, was=path, base="", head="")], place="assay_witness"
    )
    assert (complaint(change, Witness(test=test)) == "") is fine
    with behaving([(BEHAVIOUR, 17)]):
        assert "names the file" in complaint(change, Witness(test=test)), "logs of before refused it"


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("said", ["\n", "\r\n"])
def test_a_fix_stands_in_a_file_whose_lines_end_otherwise(end: str, said: str) -> None:
    text = f"def f(x):{end}    return x{end}"
    change = ProvenChange(files=[ChangedFile(path="m.py", was="m.py", base=text, head=text)])
    edit = Edit(path="m.py", old=f"def f(x):{said}    return x", new=f"def f(x):{said}    return 1{said}")
    assert mended(change, [edit]) == ({"m.py": f"def f(x):{end}    return 1{end}{end}"}, "")
    mixed = text + ("\n" if end == "\r\n" else "\r\n")
    other = ProvenChange(files=[ChangedFile(path="m.py", was="m.py", base=mixed, head=mixed)])
    assert bool(mended(other, [edit])[1]) is (end != said), "where they are mixed the words stand as they are"


def test_a_form_feed_ends_no_line_and_a_mark_of_byte_order_is_no_text() -> None:
    base = "\ufeffa = 1\n\x0c\nb = 2\n\x0c\n\x0c\nc = '\u2028'\n\n\ndef f():\n    return 1\n"
    change = ChangedFile(path="m.py", was="m.py", base=base, head=base.replace("return 1", "return 2"))
    (hunk,) = hunks(change)
    assert str(hunk) == "m.py:10-10" and functions(base)["f"].lineno == 9
    taken = ProvenChange(files=[change]).without(hunk)
    assert taken == {"m.py": base}


def test_a_lock_of_packages_is_compared_by_the_lines_that_tell_them_apart() -> None:
    def locked(first: int) -> str:
        lines = ('"p{}": {{', '  "version": "{}.0",', '  "dev": true,', '  "license": "MIT"', "}},")
        return "".join(f"{line.format(n)}\n" for n in range(first, first + 500) for line in lines)

    listed = hunks(ChangedFile(path="lock.json", was="lock.json", base=locked(0), head=locked(1_000)))
    assert len(listed) < 9
