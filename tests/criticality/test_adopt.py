"""`criticality adopt` as a person meets it: what can be adopted, a run over a package with a defect, its tests."""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import re
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from criticality.adopt.proposing import Proposal, proposal_fault
from criticality.languages import adopter
from llm_runtime.testing import LoopbackServer, Received

WORDS = '''"""Words."""
import time


def slug(text, sep="-"):
    """Return the words of a text in lower case, joined.

    >>> slug("Hello World")
    'hello-world'
    >>> slug("a b", sep="_")
    'a_b'
    >>> slug("A")
    'A'
    """
    return sep.join(text.lower().split())


def clamp(value: int, low: int, high: int) -> int:
    """Return the value, no lower than low and no higher than high; ValueError where low is above high."""
    if value < low:
        return low
    return high if value > high else value


def unique(items: list) -> list:
    """Return each item once, in order."""
    return [item for at, item in enumerate(items) if item not in items[:at]]


def forever(n: int) -> int:
    """Count."""
    while True:
        n += 1


def emptied(items: list) -> int:
    """Count items."""
    count = len(items)
    items.clear()
    return count


def asks(host: str) -> str:
    """Look up a host."""
    return fetched(host)


def fetched(host):
    import socket

    return socket.gethostbyname(host)


def numbers(n): return map(int, range(n))
def shown(text): print(text)
def mapped(f, items): return [f(item) for item in items]
def since(): return time.time()
async def later(): return 1
class Box: pass
'''
REFUSED = {
    "fetched": "import socket", "shown": "print()",
    "since": "time.time", "later": "a coroutine", "Box": "a class", "torn": "no Python that can be read",
    "fast": "a compiled extension",
}  # fmt: skip


def proposal(params: list[str], returns: str, *contracts: str, **more: Any) -> dict[str, Any]:
    return {"params": params, "returns": returns, "doc": "Written by hand.", "contracts": list(contracts), **more}


SLUG = ["text: Text", "sep: Text"]
CLAMP = ["value: Int", "low: Int", "high: Int"]
BETWEEN = "ENSURES: low <= high implies low <= result and result <= high"
RAISES = "ENSURES: low > high implies raises(ValueError)"
UNIQUE = proposal(
    ["items: List<Int>"], "List<Int>", "ENSURES: set(result) == set(items)", "ENSURES: len(result) == len(set(items))"
)
COUNTED = ("ENSURES: len(result) == min(max(n, 0), 50)", "ENSURES: all(result[i] == i for i in range(len(result)))")
#: What a model would answer, written by hand: the proposal, and the second one where the code breaks the first.
ANSWERS: dict[str, list[Any]] = {
    "slug": [
        proposal(SLUG, "Text", "ENSURES: result == result.lower()"),
        {
            "answers": [{"number": 1, "decision": "reworded", "because": "sep stays as it is"}],
            "proposal": proposal(SLUG, "Text", "ENSURES: sep == '-' implies ' ' not in result"),
        },
    ],
    "clamp": [
        proposal(CLAMP, "Int", BETWEEN, RAISES, errors={"ValueError": "low is above high"}),
        {
            "answers": [{"number": 1, "decision": "finding", "because": "the docstring says so"}],
            "proposal": proposal(CLAMP, "Int", BETWEEN, errors={"ValueError": "low is above high"}),
        },
    ],
    "unique": [UNIQUE],
    "forever": [
        proposal(["n: Int"], "Int", "ENSURES: result > n"),
        {
            "answers": [{"number": 1, "decision": "withdrawn", "because": "it never ends"}],
            "proposal": proposal(["n: Int"], "Int", "ENSURES: result > n"),
        },
    ],
    "emptied": [proposal(["items: List<Int>"], "Int", "ENSURES: result == len(items)")],
    "numbers": [proposal(["n: Int"], "List<Int>", *COUNTED)],
    "asks": [proposal(["host: Text"], "Text", "ENSURES: len(result) > 0")],
}  # fmt: skip


def answer(received: Received) -> str:
    text = received.messages[0].content
    if body := re.search(r"FUNCTION: (\w+)", text):
        assert body[1] == "unique" and "def unique(items: list) -> list:" in text
        return "```python\nreturn list(dict.fromkeys(items))\n```"
    name = re.search(r"The function is `(\w+)`", text)
    assert name is not None
    return json.dumps(ANSWERS[name[1]][1 if "it breaks some" in text else 0])


@pytest.fixture
def package(tmp_path: Path) -> Path:
    folder = tmp_path / "src" / "shelf"
    folder.mkdir(parents=True)
    (folder / "__init__.py").write_text("")
    (folder / "words.py").write_text(WORDS)
    (folder / "torn.py").write_text("def x(:\n")
    (folder / "fast.cpython-311.so").write_bytes(b"\x7fELF")
    (folder / "absent.py").write_text("import nothing_of_this_name\ndef double(n: int) -> int: return 2 * n\n")
    return folder


@pytest.fixture
async def server() -> AsyncIterator[LoopbackServer]:
    async with LoopbackServer(answer) as running:
        yield running


def digests(folder: Path) -> dict[str, str]:
    return {str(p): hashlib.sha256(p.read_bytes()).hexdigest() for p in folder.rglob("*") if p.is_file()}


def test_what_cannot_be_adopted_is_named_with_the_reason(package: Path) -> None:
    read = adopter(package).read(package)
    refused = {
        one.shown.removeprefix("shelf.").removeprefix("words."): one.refused for one in read.candidates if one.refused
    }
    assert refused.keys() == REFUSED.keys()
    assert [name for name, why in REFUSED.items() if why not in refused[name]] == []
    assert [one.name for one in read.candidates if not one.refused] == [
        "double", "slug", "clamp", "unique", "forever", "emptied", "asks", "numbers", "mapped",
    ]  # fmt: skip


def test_only_what_takes_a_functions_place_in_its_module_stands_in_its_way(tmp_path: Path) -> None:
    module = tmp_path / "shared.py"
    module.write_text(
        "class Bag:\n    def add(self, n: int) -> int: return n\n\n"
        "def add(n: int) -> int:\n    def count(k): return k\n    return count(n)\n\n"
        "def count(n: int) -> int: return n\n\n"
        "@overload\ndef read(x: int) -> str: ...\n@typing.overload\ndef read(x: str) -> int: ...\n"
        "def read(x: int | str) -> int | str: return x\n\n"
        "def twice(n: int) -> int: return n\ndef twice(n: int) -> int: return 2 * n\n"
        "def either(n: int) -> int: return n\nif add(1):\n    def either(n: int) -> int: return -n\n"
    )
    found = [(one.name, one.refused) for one in adopter(module).read(module).candidates]
    able = ["bag", "add", "count", "read"]
    assert [name for name, why in found if not why] == able
    assert [name for name, why in found if "more than once" in why] == ["twice", "twice", "either"]


def test_letters_beyond_ascii_are_refused_before_a_model_is_asked(tmp_path: Path) -> None:
    module = tmp_path / "words.py"
    module.write_text("def cut(größe: int) -> int: return größe\ndef länge(wort: str) -> int: return 1\n", "utf-8")
    refused = [one.refused or one.handed for one in adopter(module).read(module).candidates]
    assert refused == ["its parameter größe is not in lower case ASCII", "its name is not in lower case ASCII"]


async def test_bad_input_is_one_line_each_and_asks_nobody(assay: Any, package: Path) -> None:
    (package / "data.txt").write_text("no code")
    for target, words in {
        "nowhere": "there is no",
        "src/shelf/data.txt": "is no Python file",
        "src/shelf/fast.cpython-311.so": "is compiled",
        "src": "did you mean shelf in it?",
        ".": "did you mean src/shelf in it?",
        "src/shelf::nothing": "has no function nothing",
        "src/shelf::shown": "cannot be adopted: it reaches outside: print()",
    }.items():
        done = await assay(target)
        assert done.code == 2 and words in done.err and done.err.count("\n") == 1, (target, done.err)
    listed = await assay("src/shelf")
    assert listed.code == 0 and "shelf.words.slug  Return the words" in listed.out
    assert "9 can be adopted" in listed.err
    taken = await assay("src/shelf::slug", "--into", str(package))
    assert taken.code == 2 and "holds something else" in taken.err


@pytest.mark.box
@pytest.mark.long
async def test_functions_are_judged_as_they_are_and_the_package_stays(
    assay: Any, package: Path, server: LoopbackServer, tmp_path: Path
) -> None:
    before = digests(package)
    target, more = "src/shelf::slug", ["clamp", "unique", "forever", "emptied", "asks", "double", "numbers"]
    done = await assay(target, *more, "--mutants", "6", "--rewrite", "unique", "--json", "--out", "r.md", server=server)
    assert done.code == 0, done.err
    result = json.loads(done.out)["result"]
    adopted = {one["function"].rpartition(".")[2]: one for one in result["adoptions"]}
    assert {name for name, one in adopted.items() if not one["refused"]} == {"slug", "clamp", "unique", "numbers"}
    assert "2 s for one call" in adopted["forever"]["refused"]
    assert "changes what it is given" in adopted["emptied"]["refused"]
    assert "reaches outside" in adopted["asks"]["refused"]
    assert "No module named 'nothing_of_this_name'" in adopted["double"]["refused"]
    # What the code does otherwise than its docstring says is kept, with the case; so is what was taken back.
    (wrong,) = adopted["clamp"]["findings"]
    assert (wrong["kind"], wrong["promise"]) == ("finding", RAISES) and "the result was" in wrong["case"]
    kinds = {one["promise"]: one["kind"] for one in adopted["slug"]["findings"]}
    assert kinds == {
        "ENSURES: result == result.lower()": "reworded",
        "the examples in the docstring of slug hold (example_3)": "finding",
    }
    assert adopted["numbers"]["measured"]["noticed"] > 0  # of a generator the first items are judged
    assert adopted["clamp"]["measured"]["changes"] > adopted["clamp"]["measured"]["noticed"]
    assert "value=" in adopted["clamp"]["left_open"][0]["case"]
    # The new body is a patch: nothing of the package has changed.
    assert "+    return list(dict.fromkeys(items))" in adopted["unique"]["rewritten"]
    assert digests(package) == before
    report = (tmp_path / "r.md").read_text()
    assert "shelf.words.clamp" in report and "Left open" in report
    folder = tmp_path / "src" / "shelf-adopted"
    assert "words.clamp" in (folder / "trace.md").read_text()
    assert json.loads((folder / "trace.json").read_text())["findings"]
    await native_tests_pass(folder)
    assert digests(package) == before


async def native_tests_pass(folder: Path) -> None:
    """Run pytest on what was written, as its person would."""
    code, out = await native_tests(folder)
    assert code == 0 and " passed" in out, out


async def native_tests(folder: Path) -> tuple[int | None, str]:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-B", "-m", "pytest", "-q", "-p", "no:cacheprovider", "-c", os.devnull,
        "--rootdir", str(folder), str(folder / "tests"),
        stdout=asyncio.subprocess.PIPE, env={"PATH": os.environ["PATH"]}, cwd=folder,
    )  # fmt: skip
    out, _ = await process.communicate()
    return process.returncode, out.decode()


def test_a_proposal_without_words_on_the_function_is_judged_and_its_fault_is_told_in_words(package: Path) -> None:
    one = next(one for one in adopter(package).read(package).candidates if one.name == "slug")
    answer = {"params": SLUG, "returns": "Text", "contracts": ["ENSURES: len(result) >= 0"]}
    assert proposal_fault(one, Proposal.model_validate(answer)) is None
    wrong = proposal_fault(one, Proposal.model_validate({**answer, "errors": {"not a name": "it is"}}))
    assert wrong is not None and "validation error" not in wrong and "pydantic.dev" not in wrong


def test_a_model_that_describes_a_function_does_not_refuse_it() -> None:
    answer = {"params": ["n: Int"], "returns": "Int", "contracts": ["ENSURES: result >= 0"], "refused": "it reads"}
    assert Proposal.model_validate(answer).refused == ""
    assert Proposal.model_validate({"refused": "it writes a file"}).refused == "it writes a file"
