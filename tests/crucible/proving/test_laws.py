"""Laws that stand without words: what a box sees of them, and which of them prove something of a change."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.crucible.proving.shop import Shop, told, witness

from crucible.behaviour import BEHAVIOUR
from crucible.proving import BoxRequest, ProvenChange, States, judge
from crucible.proving.change import ChangedFile
from crucible.proving.laws import unread_parameter
from llm_runtime.behaviour import behaving

BASE = {
    "shop/__init__.py": "",
    "shop/prices.py": "",
    "shop/lists.py": '''class NoCode(Exception):
    """There is no such code."""

    def __init__(self, code, where):
        super().__init__(code, where)
        self.code = code


def check(code):
    if len(code) != 2:
        message = "no code: %s" % (code,)
        raise NoCode(message, "here")
    return code


def known(code):
    if code not in ("ab", "cd"):
        raise NoCode(code, "there")
    return code


def first(items):
    found = 0
    for found in items:
        break
    return found
''',
    "tests/test_lists.py": """from shop.lists import NoCode, check, first, known


def test_all():
    assert check("ab") == known("ab") and first([1]) == 1
    assert NoCode("x", "here").code == "x"
""",
}
#: What each change takes away, the witness of it, and what the head says of laws; those of the base stand behind.
BROKEN = {
    "an error on the way to its own": (
        ("% (code,)", "% code"),
        "with pytest.raises(lists.NoCode):\n    lists.check((1, 2, 3))",
        ({"slip"}, {"error NoCode"}),
    ),
    "a name that is not bound": (("    found = 0\n", ""), "assert lists.first([]) == 0", ({"slip"}, set())),
    "what cannot be read again": (
        ("__init__(code, where)", "__init__(code)"),
        "code = 'x'\nimport pickle\nassert pickle.loads(pickle.dumps(lists.NoCode(code, 'here'))).code == code",
        ({"pickle"}, set()),
    ),
    "another error on purpose": (
        ('raise NoCode(code, "there")', "raise KeyError(code)"),
        "with pytest.raises(lists.NoCode):\n    lists.known('x')",
        (set(), {"error NoCode"}),
    ),
    "a warning, where warnings are errors": (
        ("    found = 0\n", "    found = 0\n    __import__('warnings').warn('old')\n"),
        "right = 0\nimport warnings\nwarnings.simplefilter('error')\nassert lists.first([]) == right",
        (set(), set()),
    ),
}


@pytest.fixture
def shop(tmp_path: Path) -> Shop:
    """A shop with laws."""
    return Shop(tmp_path / "checkout", BASE)


@pytest.mark.box
@pytest.mark.parametrize("name", BROKEN)
async def test_a_box_tells_which_laws_a_test_met(shop: Shop, name: str) -> None:
    edit, body, expected = BROKEN[name]
    change = shop.change("shop/lists.py", edit)
    files, watch = {change.place: witness(body).test}, ["shop/lists.py"]
    with States(change, at=shop.folder) as run:
        asks = [
            BoxRequest(tree=tree, files=files, select=[change.place], watch=watch)
            for tree in (change.head, change.base)
        ]
        found = [(await run(ask)).tests[0] for ask in asks]
    assert [one.outcome for one in found] == ["failed", "passed"], found
    assert tuple({*one.laws} for one in found) == expected


PROVED = {
    "its own error": (0, {"kind": "crash", "head": ["slip"], "base": ["error NoCode"]}, "on the way to its own NoCode"),
    "unbound": (3, {"kind": "crash", "head": ["slip"], "type": "UnboundLocalError"}, "not bound"),
    "pickle": (2, {"kind": "own", "head": ["pickle"], "at": ""}, "pickle.loads cannot read"),
}  # fmt: skip
EDITS = [one[0] for one in BROKEN.values()]
#: What is meant, or says nothing: the change, and what a box saw.
MEANT = {
    "an error of what is given": (0, {"kind": "crash", "head": ["slip"], "base": ["error NoCode"], "type": "KeyError"}),
    "another error than follows": (0, {"kind": "crash", "head": ["slip"], "base": ["error NoPrice"]}),
    "a line that raises": (0, {"kind": "raised", "head": [], "base": ["error NoCode"]}),
    "a refusal to be read again": (2, {"kind": "raised", "head": ["pickle"], "at": "shop/lists.py:18"}),
    "what broke before": (2, {"kind": "own", "head": ["pickle"], "base": ["pickle"], "at": ""}),
}


@pytest.mark.parametrize("name", PROVED)
async def test_a_broken_law_proves(shop: Shop, name: str) -> None:
    edit, seen, law = PROVED[name]
    change = shop.change("shop/lists.py", EDITS[edit])
    true = witness("assert lists.first([]) == 0", EDITS[edit][::-1])
    proof = await judge(change, true, [], "f", told(change, **{"at": "shop/lists.py:11", **seen}))
    assert (proof.verdict, proof.oracle) == ("proved", "law") and law in proof.told, proof
    with behaving([(BEHAVIOUR, 10)]):
        assert (await judge(change, true, [], "f", told(change, **seen))).oracle != "law"


@pytest.mark.parametrize("name", MEANT)
async def test_what_a_change_may_mean_breaks_no_law(shop: Shop, name: str) -> None:
    edit, seen = MEANT[name]
    change = shop.change("shop/lists.py", EDITS[edit])
    true = witness("assert lists.first([]) == 0", EDITS[edit][::-1])
    proof = await judge(change, true, [], "f", told(change, **{"at": "shop/lists.py:11", **seen}))
    assert (proof.verdict, proof.oracle) == ("changed", "none"), proof


SPLIT = {
    "shop/__init__.py": "",
    "shop/prices.py": "",
    "shop/lists.py": '''def first(items, start=0, *, missing=None):
    """Return the first of items.

    :param start: where to look from.
    :param missing: what is given where there is none; the missing ones count too.
    """
    for item in items[start:]:
        return item
    return missing
''',
    "tests/test_lists.py": "from shop.lists import first\n\n\ndef test_first():\n    assert first([1], start=0) == 1\n",
}
FORGOTTEN, BACK = ("in items[start:]", "in items"), ("in items", "in items[start:]")
#: What the change does besides, what the witness asserts, and the verdict.
READ: dict[str, tuple[list[tuple[str, str]], str, str]] = {
    "the docstring still describes it": ([], "lists.first([1, 2], start=1) == 2", "proved"),
    "the test gives it by its place": ([], "lists.first([1, 2], 1) == 2", "changed"),
    "the docstring changes": (
        [(":param start: where", ":param start: once where")],
        "lists.first([1, 2], start=1) == 2",
        "changed",
    ),
    "the body speaks of it": (
        [("    return missing", "    return missing  # start is kept for old callers")],
        "lists.first([1, 2], start=1) == 2",
        "changed",
    ),
    "nobody reads what is made of it": (
        [("    for item", "    given = list(items)[start:]\n    for item")],
        "lists.first([1, 2], start=1) == 2",
        "proved",
    ),
    "a name says that nobody reads it": (
        [("    for item", "    _given = list(items)[start:]\n    for item")],
        "lists.first([1, 2], start=1) == 2",
        "changed",
    ),
    "a remark says why nobody reads it": (
        [("    for item", "    given = list(items)[start:]  # for its errors\n    for item")],
        "lists.first([1, 2], start=1) == 2",
        "changed",
    ),
    "a decorator takes it over": (
        [("def first", "import shop\n\n\n@shop.skipping\ndef first")],
        "lists.first([1, 2], start=1) == 2",
        "changed",
    ),
    "the signature changes": ([("start=0", "start=1")], "lists.first([1, 2], start=1) == 2", "changed"),
}  # fmt: skip


@pytest.mark.parametrize("name", READ)
async def test_a_parameter_that_is_no_longer_read_proves_where_its_docstring_stays(tmp_path: Path, name: str) -> None:
    more, body, verdict = READ[name]
    change = Shop(tmp_path / "checkout", SPLIT).change("shop/lists.py", FORGOTTEN, *more)
    true = witness(f"assert {body}", BACK)
    proof = await judge(change, true, [], "f", told(change, kind="own", at=""))
    assert proof.verdict == verdict, proof
    if verdict == "proved":
        assert "first no longer reads its parameter start" in proof.told
        with behaving([(BEHAVIOUR, 11)]):
            assert (await judge(change, true, [], "f", told(change, kind="own", at=""))).verdict == "changed"


@pytest.mark.box
async def test_a_forgotten_parameter_is_proved_in_the_box(tmp_path: Path) -> None:
    shop = Shop(tmp_path / "checkout", SPLIT)
    change = shop.change("shop/lists.py", FORGOTTEN)
    true = witness("assert lists.first([1, 2], start=1) == 2", BACK)
    with States(change, at=shop.folder) as run:
        proof = await judge(change, true, ["shop/lists.py:7"], "f", run)
    assert (proof.verdict, proof.oracle) == ("proved", "law"), proof


@pytest.mark.box
@pytest.mark.parametrize(("annotation", "verdict"), [("", "changed"), (": Any", "proved"), (": object", "proved")])
async def test_what_takes_anything_is_promised_to_fail_with_its_own_error(
    tmp_path: Path, annotation: str, verdict: str
) -> None:
    text = f"from typing import Any\n\n\n{BASE['shop/lists.py']}".replace("check(code)", f"check(code{annotation})")
    shop = Shop(tmp_path / "checkout", {**BASE, "shop/lists.py": text})
    edit, body, _ = BROKEN["an error on the way to its own"]
    change, true = shop.change("shop/lists.py", edit), witness(body, edit[::-1])
    with States(change, at=shop.folder) as run:
        proof = await judge(change, true, ["shop/lists.py:15"], "f", run)
        assert proof.verdict == verdict, proof
        with behaving([(BEHAVIOUR, 11)]):
            assert (await judge(change, true, ["shop/lists.py:15"], "f", run)).verdict == "changed"


#: What a change may do with a parameter that its answer no longer hangs on, in place of the line that read it.
KEPT = {
    "a global": "global LAST\n    LAST = start",
    "the first of two names": "a = b = start\n    print(b)",
    "a name of the function around": "def note():\n        nonlocal items\n        items = start\n    note()",
    "an attribute of a class": "class Kept:\n        most = start\n    print(Kept)",
    "what eval reads": "most = start\n    eval('print(most)')",
    "what a function within reads": "most = start\n    print((lambda: most)())",
    "what is taken away again": "most = start\n    del most",
    "what locals() tells": "most = start\n    print(locals())",
    "a call alone": "print(start)",
    "one of several": "most, n = start, 1\n    print(n)",
}


@pytest.mark.parametrize(("name", "proved"), [*((name, False) for name in KEPT), ("nothing", True)])
def test_a_parameter_that_is_read_in_any_way_may_be_meant(name: str, proved: bool) -> None:
    base = SPLIT["shop/lists.py"]
    head = base.replace("    for item in items[start:]", f"    {KEPT.get(name, 'most = start')}\n    for item in items")
    change = ProvenChange(files=[ChangedFile(path="l.py", was="l.py", base=base, head=head)])
    law = unread_parameter(change, "assert first([1, 2], start=1) == 2", ["l.py:first"])
    assert bool(law) == proved, law
