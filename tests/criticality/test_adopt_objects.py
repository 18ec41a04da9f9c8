"""Functions that take or give objects and functions: made of what is drawn, and looked at by what was proposed."""

from __future__ import annotations

import asyncio
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from criticality.adopt.adopting import Adopting, Adoption
from criticality.adopt.checking import check
from criticality.adopt.deciding import deviations
from criticality.adopt.proposing import Proposal, proposal_fault
from criticality.adopt.writing import write_adoption, write_decisions
from criticality.asking import Asking
from criticality.config import Acceptance, Config, Models, ProjectConfig
from criticality.judging.court import Court
from criticality.languages import adopter
from criticality.standing import Candidate, chosen
from llm_runtime.messages import Request
from llm_runtime.providers.scripted import scripted

ROADS = '''"""Roads between places."""
from collections.abc import Callable, Coroutine
from pathlib import Path


class Roads:
    """Which place leads to which."""

    def __init__(self, pairs=()):
        self._next = {}
        for one, other in pairs:
            self.join(one, other)

    def join(self, one, other):
        self._next.setdefault(one, set()).add(other)
        self._next.setdefault(other, set()).add(one)

    def beside(self, place):
        if place not in self._next:
            raise KeyError(place)
        return set(self._next[place])

    def pairs(self):
        return sorted((a, b) for a, others in self._next.items() for b in others if a <= b)


_COUNTED = set()


def counted(function):
    """Return a function that does the same; a second one of its name is refused."""
    if function.__name__ in _COUNTED:
        raise KeyError(function.__name__)
    _COUNTED.add(function.__name__)
    return lambda *args: function(*args)


@counted
def reached(R, start):
    """Yield each place that can be reached from start, start first, each once; KeyError where start is none."""
    seen, left = set(), [start]
    while left:
        place = left.pop()
        yield place
        seen.add(place)
        left += [one for one in R.beside(place) if one not in seen]


def cut(roads, place):
    """Take all roads of a place away; the other places stay."""
    for one in roads.beside(place):
        roads._next[one].discard(place)
        roads._next[place].discard(one)


def grid(size):
    """Return roads between a row of places, each with the next."""
    return Roads((at, at + 1) for at in range(size - 1))


def parted(pred, items, *, key=None):
    """Return the items that a predicate holds of, then the others, both in their order."""
    return [x for x in items if pred(x)] + [x for x in items[::-1] if not pred(x)]


def merged(*lists):
    """Return the items of all lists, sorted; none is lost."""
    return sorted({item for one in lists for item in one})


def adder(step: int) -> Callable:
    """Return a function that adds a step."""
    return lambda value: value + step


def plain_name(path: Path) -> str:
    """Return the name of a file without what stands behind its first dot."""
    return path.stem


@counted
def low(value):
    """Tell whether a value is below three."""
    return value < 3


def loop(): return Roads.pairs(Roads())


def digits(text: str) -> int:
    """Return the number that digits write; ValueError where they are none."""
    return int(text) if text else 0


def last(items: list) -> int:
    """Return the last item; KeyError where there is none."""
    return items[-1]


def width(text: str) -> int:
    """Return how many characters a text has."""
    return len(text.encode("utf-32-le")) // 4


def waits(loop, task: Coroutine): return loop
def drawn(canvas): canvas.stroke_rectangle()
def arrays(n):
    import no_such_module
    return no_such_module.zeros(n)
'''
SMALL = "REQUIRES: all(0 <= a and a < 6 and 0 <= b and b < 6 for a, b in edges) and len(edges) <= 8"
EDGES = "edges: List<Tuple<Int, Int>>"
NEXT = "[b for a, b in edges if a == {0}] + [a for a, b in edges if b == {0}]"
ADDED = "ENSURES: list(result) == [p + step for p in probes]"


def proposal(params: list[str], returns: str, *contracts: str, **more: Any) -> dict[str, Any]:
    return {"params": params, "returns": returns, "doc": "By hand.", "contracts": list(contracts), **more}


#: What each is said to do, and whether the code does otherwise.
PROMISED: dict[str, tuple[dict[str, Any], str]] = {
    "reached": (
        proposal(
            [EDGES, "start: Int"], "List<Int>", SMALL, "REQUIRES: 0 <= start and start < 6",
            "ENSURES: all(start not in pair for pair in edges) implies raises(KeyError)",
            "ENSURES: result[0] == start", "ENSURES: len(set(result)) == len(result)",
            f"ENSURES: all(n in result for p in result for n in {NEXT.format('p')})",
            made=["R = Roads(edges)"], errors={"KeyError": "there is no such place"},
        ),
        "len(set(result)) == len(result)",
    ),
    "cut": (
        proposal(
            [EDGES, "place: Int"], "List<Tuple<Int, Int>>", SMALL, "REQUIRES: any(place in pair for pair in edges)",
            "ENSURES: set(result) == {(min(a, b), max(a, b)) for a, b in edges if place not in (a, b)}",
            made=["roads = Roads(edges)"], seen="roads.pairs()",
        ),
        "",
    ),
    "grid": (
        proposal(
            ["size: Int"], "List<Tuple<Int, Int>>", "REQUIRES: size < 20",
            "ENSURES: list(result) == [(i, i + 1) for i in range(size - 1)]", seen="result.pairs()",
        ),
        "",
    ),
    "parted": (
        proposal(
            ["which: Int", "items: List<Int>"], "List<Int>", "REQUIRES: 0 <= which and which < 3",
            "ENSURES: list(result) == [x for x in items if pred(x)] + [x for x in items if not pred(x)]",
            made=["pred = (lambda x: x > 0, lambda x: x % 2 == 0, bool)[which]"],
        ),
        "list(result) == [x for x in items if ((lambda x: x > 0",
    ),
    "merged": (
        proposal(
            ["many: List<List<Int>>"], "List<Int>", "ENSURES: list(result) == sorted([x for one in many for x in one])",
            "ENSURES: set(result) == {x for one in many for x in one}",
            made=["*lists = many"],
        ),
        "list(result) == sorted(",
    ),
    "adder": (proposal(["step: Int", "probes: List<Int>"], "List<Int>", ADDED, seen="[result(p) for p in probes]"), ""),
    "plain_name": (
        proposal(
            ["text: Text"], "Text", "REQUIRES: matches(text, '[a-c]+([.][a-c]+){0,3}')",
            "ENSURES: result == text.split('.')[0]", made=["path = pathlib.Path(text)"],
        ),
        "result == text.split('.')[0]",
    ),
}  # fmt: skip


@pytest.fixture
def roads(tmp_path: Path) -> Path:
    path = tmp_path / "roads.py"
    path.write_text(ROADS, "utf-8")
    return path


def candidate(path: Path, name: str) -> Candidate:
    return chosen(adopter(path).read(path), [name])[0]


def test_what_is_made_is_told_and_what_nothing_makes_is_refused(roads: Path) -> None:
    read = {one.name: one for one in adopter(roads).read(roads).candidates}
    assert {name: one.handed for name, one in read.items() if not one.refused and one.handed} == {
        "counted": "its parameter function is a function, no plain value; "
        "its parameter function is an object with .__name__",
        "reached": "its parameter R is not in lower case ASCII; its parameter R is an object with .beside",
        "cut": "its parameter roads is an object with ._next",
        "parted": "its parameter pred is a function, no plain value; its parameter key is a function, no plain value",
        "merged": "it takes any number of values: *lists",
        "plain_name": "its parameter path is a Path, no plain value",
        "grid": "its result may be an object of the package",
        "loop": "its result may be an object of the package",
        "adder": "its result is a Callable, no plain value",
    }  # fmt: skip
    assert {name: one.refused for name, one in read.items() if one.refused and not one.written} == {
        "waits": "its parameter task is a Coroutine, no plain value, and nothing here makes one",
        "drawn": "its parameter canvas is an object with .stroke_rectangle, and nothing here makes one",
    }


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"made": [], "seen": "result"}, "the parameter R has no default: it is among params or made"),
        ({"made": []}, "has no parameter edges"),
        ({"made": ["R = Roads(edges)", "Q = 1"]}, "no parameter Q that could be made"),
        ({"made": ["Roads(edges)"]}, "is not written 'parameter = expression'"),
        ({"made": ["R = Roads(edges)._next"]}, "names with an underscore are private"),
        ({"seen": "result of it"}, "is no expression"),
    ],
)
def test_what_cannot_be_made_is_told_in_one_line(roads: Path, changed: dict[str, Any], words: str) -> None:
    fault = proposal_fault(candidate(roads, "reached"), Proposal.model_validate(PROMISED["reached"][0] | changed))
    assert fault is not None and words in fault and "\n" not in fault


async def adopted(path: Path, name: str, proposed: dict[str, Any]) -> tuple[Adoption, list[str]]:
    prompts: list[str] = []

    def answer(request: Request) -> str:
        prompts.append(request.messages[0].content)
        if "it breaks some" not in prompts[-1]:
            return json.dumps(proposed)
        numbers = re.findall(r"^(\d)\. ", prompts[-1].partition("<<<BROKEN")[2], re.MULTILINE)
        answers = [{"number": int(n), "decision": "finding", "because": "it says so"} for n in numbers]
        return json.dumps({"answers": answers, "proposal": proposed})

    python = adopter(path)
    package = python.read(path)
    config = Config(project=ProjectConfig(name="roads"), acceptance=Acceptance(small=60, text=30, drawn=40, mutants=4))
    court = Court(1)
    try:
        one = await Adopting(
            python, package, Asking(scripted(answer), Models(), 7), court, config, lambda event: None
        ).adopt(chosen(package, [name])[0])
    finally:
        await court.aclose()
    return one, prompts


@pytest.mark.box
@pytest.mark.toolchain
@pytest.mark.parametrize("name", PROMISED)
async def test_a_planted_deviation_is_found_and_nothing_else(roads: Path, name: str) -> None:
    proposed, broken = PROMISED[name]
    one, prompts = await adopted(roads, name, proposed)
    assert "That is no reason to refuse it" in prompts[0] and one.refused == ""
    assert [finding.kind for finding in one.findings] == ["finding"] * bool(broken), one.findings
    assert broken in "".join(finding.promise for finding in one.findings)
    assert one.measured["cases"] > 20
    # Of a body that is one name there are no small changes.
    assert one.measured["noticed"] > 0 or name == "plain_name"
    package = adopter(roads).read(roads)
    folder = roads.parent / "roads-adopted"
    write_adoption(folder, adopter(roads), package, {one.id: candidate(roads, name)}, [one], {}, "a box")
    words = [sys.executable, "-B", "-m", "pytest", "-q", "-p", "no:cacheprovider", "-c", "/dev/null", str(folder)]
    done = await asyncio.to_thread(subprocess.run, words, capture_output=True, check=False, text=True)
    assert done.returncode == 0, done.stdout
    assert [each.standing for each in await check(folder)] == ["holds"]
    if broken:
        (deviation,) = deviations([one])
        write_decisions(folder, {deviation.place: "accepted"})
        assert [each.standing for each in await check(folder)] == ["holds"]
        write_decisions(folder, {deviation.place: "rejected"})
        assert [each.standing for each in await check(folder)] == ["rejected"]


@pytest.mark.box
@pytest.mark.toolchain
async def test_a_change_of_what_a_decorator_takes_once_is_judged_by_its_answers(roads: Path) -> None:
    one, _ = await adopted(roads, "low", proposal(["value: Int"], "Bool", "ENSURES: result or not result"))
    assert one.measured["changes"] > 0 and one.measured["noticed"] == 0


@pytest.mark.box
@pytest.mark.toolchain
async def test_what_is_not_installed_is_no_deviation(roads: Path) -> None:
    one, _ = await adopted(roads, "arrays", proposal(["n: Int"], "List<Int>"))
    assert one.refused.startswith("it needs what is not installed: it raised ModuleNotFoundError") and not one.findings


@pytest.mark.box
@pytest.mark.toolchain
async def test_what_is_not_made_as_was_proposed_is_no_deviation(roads: Path) -> None:
    proposed = PROMISED["reached"][0] | {"made": ["R = Roads(edges[0])"]}
    one, _ = await adopted(roads, "reached", proposed)
    assert one.refused.startswith("its values are not made as was proposed")
    assert {finding.kind for finding in one.findings} <= {"reworded", "left_out"}


NONE = "no error but those that the contract promises"
TOLD: dict[str, tuple[str, dict[str, Any], list[str]]] = {
    "named in words alone": ("digits", {"errors": {"ValueError": "they are none"}}, []),
    "kept but in one case": (
        "digits",
        {"errors": {"ValueError": "they are none"},
         "contracts": ["ENSURES: not text.isdecimal() implies raises(ValueError)"]},
        ["text=''; the result was 0"],
    ),
    "of another kind": (
        "last",
        {"params": ["items: List<Int>"], "errors": {"KeyError": "there is none"},
         "contracts": ["ENSURES: len(items) == 0 implies raises(KeyError)"]},
        ["items=(); it raised IndexError('list index out of range')"],
    ),
    "promised by nobody": (
        "last", {"params": ["items: List<Int>"]}, ["items=(); it raised IndexError('list index out of range')"],
    ),
    "none, and a codec that is loaded late": ("width", {"contracts": ["ENSURES: result == len(text)"]}, []),
}  # fmt: skip


@pytest.mark.box
@pytest.mark.toolchain
@pytest.mark.parametrize("name", TOLD)
async def test_an_error_is_told_once_and_one_that_is_named_not_at_all(roads: Path, name: str) -> None:
    function, proposed, cases = TOLD[name]
    one, _ = await adopted(roads, function, {"params": ["text: Text"], "returns": "Int", "doc": "By hand.", **proposed})
    assert one.refused == "" and [(each.kind, each.case) for each in one.findings] == [("finding", c) for c in cases]
