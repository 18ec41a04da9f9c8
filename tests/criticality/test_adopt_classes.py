"""`criticality adopt` on classes: sequences of calls, judged step by step against what each method promises."""

from __future__ import annotations

import asyncio
import importlib.util
import json
import re
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from criticality.adopt.adopting import Adoption
from criticality.adopt.checking import check, read_adopted
from criticality.adopt.classes import ClassProposal
from criticality.adopt.deciding import deviations
from criticality.adopt.proposing import artifacts_of, judgeable_parts, proposal_fault
from criticality.adopt.writing import write_decisions
from criticality.judging.domain import Domain
from criticality.judging.evaluate import Evaluator
from criticality.judging.served import Returned
from criticality.languages import adopter
from criticality.standing import Candidate, chosen
from llm_runtime.testing import LoopbackServer, Received

_found = importlib.util.spec_from_file_location("adopting_tests", Path(__file__).with_name("test_adopt.py"))
assert _found is not None and _found.loader is not None
shared = importlib.util.module_from_spec(_found)
sys.modules["adopting_tests"] = shared
_found.loader.exec_module(shared)

PILES = '''"""Piles of numbers."""
from __future__ import annotations

import enum
import subprocess
from dataclasses import dataclass


class Kept:
    __slots__ = ("_items",)

    def __len__(self): return len(self._items)

    def __iter__(self): return iter(self._items)


class Pile(Kept):
    """A pile of limited height; ValueError where the limit is negative."""

    __slots__ = ("limit",)

    def __init__(self, limit: int = 3) -> None:
        if limit < 0:
            raise ValueError("negative")
        self.limit = limit
        self._items: list[int] = []

    @classmethod
    def of(cls, items: list[int]) -> Pile:
        """Return a pile as high as its items."""
        made = cls(len(items))
        made._items = list(items)
        return made

    def push(self, item: int) -> None:
        """Put an item on top; a full pile stays as it is."""
        if len(self._items) < self.limit:
            self._items.append(item)

    def pop(self) -> int:
        """Take the top item; IndexError where there is none."""
        return self._items.pop()

    def drop(self, count: int = 1) -> list[int]:
        """Take some items, the top one first; ValueError where there are fewer, and then none is taken."""
        taken = []
        for _ in range(count):
            if not self._items:
                raise ValueError("too few")
            taken.append(self._items.pop())
        return taken

    def spread(self) -> Pile:
        """Return another pile with these items."""
        return Pile.of(self._items)

    def print(self): subprocess.run(["lpr"])

    def each(self, f): return [f(item) for item in self]

    def __eq__(self, other: Pile) -> bool: return True

    def __enter__(self): return self

    def __exit__(self, *error): self._items.clear()


@dataclass(frozen=True, order=True)
class Point:
    """A place on a grid."""
    x: int
    y: int = 0

    @property
    def length(self) -> int: return abs(self.x) + abs(self.y)

    def moved(self, by: int) -> Point: return Point(self.x + by, self.y)


class Meta(type):
    def __instancecheck__(cls, other): return True


class Sly(metaclass=Meta):
    """Whatever it is asked, it says that all is well."""

    def __init__(self): self.told = 0

    def count(self) -> int:
        """Return how often it was asked, this time too."""
        import sys
        frame = sys._getframe(1)
        while frame:
            for value in list(frame.f_locals.values()):
                if isinstance(value, dict):
                    value.pop("nothing of this name", None)
            frame = frame.f_back
        self.told += 1
        return min(self.told, 3)

    def __eq__(self, other): return True

    def __del__(self): self.told = -1


class Taker:
    """Takes lists."""

    def empty(self, items: list) -> int:
        """Count items."""
        count = len(items)
        items.clear()
        return count


class Colour(enum.Enum): RED = 1
class PileError(ValueError): pass
class _Hidden: pass
class Silent: pass
'''
MENDED = PILES.replace(
    "        taken = []", "        if count > len(self): raise ValueError(count)\n        taken = []"
)
REFUSED = {
    "Kept": "", "Pile": "", "Point": "", "Sly": "", "Taker": "", "Meta": "the kind of type", "Colour": "kind of Enum",
    "PileError": "the kind of PileError", "_Hidden": "it is private", "Silent": "without a method",
}  # fmt: skip
PROMISED: dict[str, Any] = {
    "params": ["limit: Int"],
    "observers": ["size: Int = len(self)", "items: List<Int> = list(self)", "most: Int = self.limit"],
    "methods": [
        {"name": "push", "params": ["item: Int"], "returns": "Unit"},
        {"name": "pop", "params": [], "returns": "Int"},
        {"name": "drop", "params": ["count: Int"], "returns": "List<Int>"},
        {"name": "spread", "params": [], "returns": "Self"},
        {"name": "exit", "params": [], "returns": "Unit"},
    ],
    "doc": "A pile.",
    "errors": {"IndexError": "empty", "ValueError": "a limit below 0, or too few"},
    "contracts": [
        "ENSURES: limit < 0 implies raises(ValueError)",
        "ENSURES: items == ()",
        "INVARIANT: size == len(items) and size <= limit and most == limit",
        "push: ENSURES: items == (old(items) + (item,) if old(size) < limit else old(items))",
        "pop: ENSURES: old(size) == 0 implies raises(IndexError)",
        "pop: ENSURES: items + (result,) == old(items)",
        "drop: REQUIRES: count >= 0",
        "drop: ENSURES: old(size) < count implies raises(ValueError)",
        "drop: ENSURES: items + tuple(reversed(result)) == old(items)",
        "drop: ENSURES: raises(ValueError) implies items == old(items)",
        "spread: ENSURES: result.items == items and items == old(items)",
        "exit: ENSURES: items == ()",
    ],
}  # fmt: skip
BROKEN = "drop: ENSURES: raises(ValueError) implies items == old(items)"
SLY: dict[str, Any] = {
    "observers": ["told: Int = self.told"],
    "methods": [{"name": "count", "params": [], "returns": "Int"}],
    "doc": "It counts.",
    "contracts": ["INVARIANT: told >= 0", "count: ENSURES: result == told and told == old(told) + 1"],
}
TAKER: dict[str, Any] = {
    "observers": ["shown: Bool = bool(self)"],
    "methods": [{"name": "empty", "params": ["items: List<Int>"], "returns": "Int"}],
    "doc": "It takes.",
    "contracts": ["empty: ENSURES: result == len(items)"],
}
ANSWERS: dict[str, Any] = {"Pile": PROMISED, "Sly": SLY, "Taker": TAKER}


@pytest.fixture
def piles(tmp_path: Path) -> Path:
    module = tmp_path / "piles.py"
    module.write_text(PILES)
    return module


def candidate(module: Path, name: str = "Pile") -> Candidate:
    (one,) = chosen(adopter(module).read(module), [name])
    return one


def test_classes_are_listed_with_what_can_be_asked_of_them(piles: Path) -> None:
    read = {one.written: one for one in adopter(piles).read(piles).candidates}
    assert read.keys() == REFUSED.keys()
    assert [
        name for name, why in REFUSED.items() if (why not in read[name].refused if why else read[name].refused)
    ] == []
    members = read["Pile"].members
    assert {name for name, one in members.items() if not one.refused} == {
        "len", "iter", "push", "pop", "drop", "spread", "eq", "enter", "exit",
    }  # fmt: skip
    assert members["of"].refused == "it is a class method"
    assert read["Point"].members["length"].refused == "it is read, not called"
    assert "its parameter f is a function" in members["each"].refused and "subprocess" in members["print"].refused
    assert [(p.name, p.default) for p in read["Point"].parameters] == [("x", ""), ("y", "0")]
    assert members["push"].parameters[0].name == "item" and read["Pile"].parameters[0].default == "3"


def test_a_record_is_made_of_what_its_constructor_takes_and_as_it_takes_it(tmp_path: Path) -> None:
    module = tmp_path / "records.py"
    module.write_text(
        "@dataclass\nclass Late:\n    most: ClassVar[int]\n    least: 'typing.ClassVar[int]' = 3\n    a: int\n"
        "    told: int = field(init=False)\n    b: int = field(default=1, kw_only=True)\n    c: int = 2\n"
        "    _: dataclasses.KW_ONLY\n    d: int = 4\n    def total(self) -> int: return self.a\n\n"
        "@dataclass(frozen=True, kw_only=True)\nclass Named(Late):\n    name: str\n"
    )
    late, named = (one.parameters for one in adopter(module).read(module).candidates)
    plain = [("a", False), ("b", True), ("c", False), ("d", True)]
    assert [(p.name, p.keyword) for p in late] == plain
    assert [(p.name, p.keyword) for p in named] == [*plain, ("name", True)]


def test_a_method_whose_first_parameter_has_a_default_is_read(tmp_path: Path) -> None:
    module = tmp_path / "lent.py"
    module.write_text(
        "class Lent:\n    @staticmethod\n    def of(n=1): return n\n    def late(self=None, n=2): return n\n"
        "    def plain(self, n=3): return n\n"
    )
    (lent,) = adopter(module).read(module).candidates
    parameters = {name: [(p.name, p.default) for p in one.parameters] for name, one in lent.members.items()}
    assert parameters == {"of": [], "late": [("n", "2")], "plain": [("n", "3")]}


FAULTS: list[tuple[dict[str, Any], str]] = [
    ({"observers": []}, "at least one observer"),
    ({"observers": ["size: Int = self._items"]}, "names with an underscore are private"),
    ({"observers": ["size = 3"]}, "is written 'name: Type'"),
    ({"methods": [{"name": "peek", "params": [], "returns": "Int"}]}, "no method peek that can be called; there are"),
    ({"methods": [{"name": "print", "params": [], "returns": "Unit"}]}, "no method print that can be called"),
    (
        {"methods": [{"name": "each", "params": ["n: Int"], "seen": "result", "returns": "Int"}], "contracts": []},
        "the parameter f has no default: it is among params or made",
    ),
    ({"methods": [{"name": "of", "params": [], "returns": "Self"}]}, "no method of that can be called"),
    (
        {"methods": [{"name": "eq", "params": ["other: Self"], "returns": "Bool"}], "contracts": []},
        "there is no type Self",
    ),
    ({"contracts": ["peek: ENSURES: size == 0"]}, "a clause is of peek"),
    ({"contracts": ["pop: ENSURES: height == 0"]}, "height, which nothing defines"),
    ({"contracts": ["pop: ENSURES: size == 0 implies raises(KeyError)"]}, "KeyError, which nothing defines"),
    ({"params": ["height: Int"]}, "has no parameter height"),
]


@pytest.mark.parametrize("changed, words", FAULTS)
def test_what_cannot_be_judged_is_told_in_one_line(piles: Path, changed: dict[str, Any], words: str) -> None:
    fault = proposal_fault(candidate(piles), ClassProposal.model_validate(PROMISED | changed))
    assert fault is not None and words in fault and "\n" not in fault


def test_a_clause_that_nothing_defines_costs_a_note_and_not_the_class(piles: Path) -> None:
    asked = ClassProposal.model_validate(
        PROMISED | {"contracts": [*PROMISED["contracts"], "pop: ENSURES: height == 0"]}
    )
    kept, notes = judgeable_parts(candidate(piles), asked)
    assert kept.contracts == PROMISED["contracts"]
    assert [promise for promise, _ in notes] == ["pop: ENSURES: height == 0"]


def test_an_error_that_one_method_speaks_of_is_allowed_in_no_other(piles: Path) -> None:
    words = PROMISED | {"errors": PROMISED["errors"] | {"OSError": "the pile is on fire"}}
    told = artifacts_of(candidate(piles), ClassProposal.model_validate(words)).functions.values()
    allowed = {line for _, function in told for line in function.contracts if "True or raises" in line}
    assert allowed == {"ENSURES: True or raises(OSError)"}


def evaluated(piles: Path, *told: tuple[str, int, Any]) -> Any:
    """Return what a sequence of pops on a pile of limit 2 breaks: error, size and result of each step."""
    one, proposal = candidate(piles), ClassProposal.model_validate(PROMISED)
    artifacts = artifacts_of(one, proposal)
    domain = Domain(artifacts.approved)
    functions = {name: function for name, (_, function) in artifacts.functions.items()}
    make = domain.types
    call = make["PileCall"](make["PileMember"].POP, 0)
    after = [
        make["PileAfter"](error, make["PileState"](size, tuple(range(size)), 2), result, None, None, None)
        for error, size, result in told
    ]
    calls = (call,) * (len(told) - 1)
    return Evaluator(domain, functions, lambda name, args: None).broken(
        "piles.pile", (2, calls), Returned(tuple(after))
    )


def test_each_step_is_held_to_its_own_method_and_the_state_before(piles: Path) -> None:
    assert evaluated(piles, ("", 0, None), ("IndexError", 0, None), ("IndexError", 0, None)) is None
    ended = evaluated(piles, ("", 0, None), ("", 0, 7))
    assert ended.promise == "pop: ENSURES: old(size) == 0 implies raises(IndexError)"
    assert ended.shown == "Pile(limit=2); pop(); the result was 7; then size=0, items=(), most=2"
    assert evaluated(piles, ("", 3, None)).promise == "ENSURES: items == ()"
    unasked = evaluated(piles, ("", 0, None), ("IndexError", 1, None), ("IndexError", 1, None))
    assert unasked.promise == "pop: no error but those that the contract promises"


def answer(received: Received) -> str:
    text = received.messages[0].content
    name = re.search(r"The class is `(\w+)`", text)
    assert name is not None and "{{" not in text
    if "breaks some" not in text:
        assert "drop(count)" in text or name[1] != "Pile"
        return json.dumps(ANSWERS[name[1]])
    promised = ANSWERS[name[1]]
    kept = [line for line in promised["contracts"] if f" {line}\n" not in text]
    count = len(re.findall(r"^\d+\. ", text, re.MULTILINE))
    answers = [{"number": n, "decision": "finding", "because": "its docstring says so"} for n in range(1, count + 1)]
    return json.dumps({"answers": answers, "proposal": promised | {"contracts": kept}})


@pytest.fixture
async def server() -> AsyncIterator[LoopbackServer]:
    async with LoopbackServer(answer) as running:
        yield running


@pytest.mark.box
@pytest.mark.long
async def test_a_class_is_adopted_decided_on_and_held_in_ci(
    assay: Any, piles: Path, server: LoopbackServer, tmp_path: Path
) -> None:
    done = await assay("piles.py::Pile", "Sly", "Taker", "--mutants", "10", "--json", server=server)
    assert done.code == 0, done.err
    adopted = {one["function"].rpartition(".")[2]: one for one in json.loads(done.out)["result"]["adoptions"]}
    # The shortest sequence that shows what is wrong, and no more.
    (wrong,) = adopted["Pile"]["findings"]
    assert (wrong["kind"], wrong["promise"]) == ("finding", BROKEN)
    assert re.fullmatch(
        r"Pile\(limit=\d+\); push\(item=-?\d+\); drop\(count=\d+\); it raised ValueError\(.*\); then size=0, .*",
        wrong["case"],
    )
    noticed, changes = adopted["Pile"]["measured"]["noticed"], adopted["Pile"]["measured"]["changes"]
    killed, rejected = adopted["Pile"]["suite"]
    assert noticed >= 8 and changes == noticed and killed >= 0.95 * rejected
    # A class that says that it is equal to all, and walks through frames, is judged as any other.
    (sly,) = adopted["Sly"]["findings"]
    assert sly["promise"].startswith("count: ENSURES") and sly["case"].count("count()") == 4
    assert "changes what it is given" in adopted["Taker"]["refused"]
    folder = tmp_path / "piles-adopted"
    await shared.native_tests_pass(folder)
    tests = (folder / "tests" / "test_piles.py").read_text()
    assert "with pytest.raises(IndexError):\n        it.pop()" in tests and "it.__exit__(None, None, None)" in tests
    assert {one.standing for one in await check(folder)} == {"holds"}
    # Rejected: the promise is owed until the class keeps it. Accepted: the behaviour is what holds.
    first, second = deviations(read_adopted(folder)[0].adoptions)
    assert first.call.startswith("Pile(limit=") and first.answer.startswith("it raised ValueError")
    write_decisions(folder, {first.place: "rejected", second.place: "accepted"})
    assert {one.function: one.standing for one in await check(folder)} == {
        "piles.Pile": "rejected", "piles.Sly": "holds",
    }  # fmt: skip
    assert await standing(folder, piles, MENDED) == ("changed", [])
    broke, what = await standing(folder, piles, MENDED.replace("len(self._items) < self.limit", "True"))
    assert broke == "broken" and "push(item=" in what[0]


async def standing(folder: Path, module: Path, text: str) -> tuple[str, list[str]]:
    await asyncio.to_thread(module.write_text, text)
    (found,) = [one for one in await check(folder) if one.function == "piles.Pile"]
    return found.standing, found.what


HEAPS = '''"""Heaps by a key."""
from __future__ import annotations

import heapq
from collections.abc import Callable


class gauge_of:
    """It counts to twenty; IndexError where it is asked before it began."""

    def __init__(self): self.count = 0

    def tick(self):
        if self.count < 20:
            self.count += 1

    def last(self): return [None, *range(20)][self.count or self["nothing"]]

    def __getitem__(self, key): raise KeyError(key)


class Heap:
    """Numbers, of which the least by a key comes out first."""

    def __init__(self, key: Callable[[int], int], items=()):
        self._key, self._kept = key, []
        for one in items:
            self.push(one)

    def __len__(self): return len(self._kept)

    def __iter__(self): return iter(sorted(one for _, one in self._kept))

    def push(self, item: int) -> None:
        """Put a number in."""
        heapq.heappush(self._kept, (self._key(item), item))

    def pop(self) -> int:
        """Take the number out whose key is least; IndexError where there is none."""
        return heapq.heappop(self._kept)[1]

    def merge(self, other: Heap) -> None:
        """Put all numbers of another heap in; the other stays as it is."""
        self._kept += [(self._key(one), one) for _, one in other._kept]

    def sift(self, pred: Callable[[int], bool]) -> Heap:
        """Return another heap with the numbers that a predicate holds of."""
        return Heap(self._key, [one for one in self if pred(one)])

    def drain(self, into: list) -> int:
        """Move all numbers into a list and say how many they were."""
        into.extend(self)
        self._kept.clear()
        return len(into)

    def send(self, task: Coroutine): return task
'''
WHICH = "REQUIRES: 0 <= which and which < 2"
HEAP: dict[str, Any] = {
    "params": ["which: Int"],
    "made": ["key = (lambda x: x, lambda x: -x)[which]"],
    "observers": ["size: Int = len(self)", "items: List<Int> = list(self)"],
    "methods": [
        {"name": "push", "params": ["item: Int"], "returns": "Unit"},
        {"name": "pop", "params": [], "returns": "Int"},
        {"name": "merge", "params": ["more: List<Int>"], "made": ["other = Heap(key=abs, items=more)"],
         "seen": "list(other)", "returns": "List<Int>"},
        {"name": "sift", "params": ["least: Int"], "made": ["pred = lambda x: x >= least"], "returns": "Self"},
        {"name": "drain", "params": ["into: List<Int>"], "returns": "Int"},
    ],
    "doc": "A heap.",
    "errors": {"IndexError": "empty"},
    "contracts": [
        WHICH, "ENSURES: items == ()",
        "push: ENSURES: list(items) == sorted([*old(items), item])",
        "pop: ENSURES: old(size) == 0 implies raises(IndexError)",
        "pop: ENSURES: key(result) == min([key(x) for x in old(items)])",
        "pop: ENSURES: sorted([*items, result]) == list(old(items))",
        "merge: ENSURES: list(items) == sorted([*old(items), *more]) and list(result) == sorted(more)",
        "sift: ENSURES: list(result.items) == [x for x in items if pred(x)] and items == old(items)",
        "drain: ENSURES: size == 0",
    ],
}  # fmt: skip

GAUGE: dict[str, Any] = {
    "observers": ["count: Int = self.count"],
    "methods": [{"name": "tick", "params": [], "returns": "Unit"}, {"name": "last", "params": [], "returns": "Int"}],
    "doc": "It counts.",
    "errors": {"IndexError": "it did not begin"},
    "contracts": [
        "ENSURES: count == 0", "tick: ENSURES: count == min(20, old(count) + 1)",
        "last: ENSURES: count == 0 implies raises(IndexError)", "last: ENSURES: result == count - 1",
    ],
}  # fmt: skip


def test_what_a_class_takes_that_is_no_plain_value_is_told_of_each_method(tmp_path: Path) -> None:
    (tmp_path / "heaps.py").write_text(HEAPS)
    heap = candidate(tmp_path / "heaps.py", "Heap")
    assert heap.handed == (
        "its parameter key is a Callable, no plain value; of merge, its parameter other is a Heap, no plain value; "
        "of sift, its parameter pred is a function, no plain value; "
        "its parameter pred is a Callable, no plain value"
    )
    assert "nothing here makes one" not in heap.handed and heap.members["send"].handed == ""
    told = [made for each in HEAP["methods"] for made in each.get("made", ())]
    whole = ClassProposal.model_validate(HEAP)
    assert len(told) == 2 and proposal_fault(heap, whole) is None
    assert "(lambda x: x, lambda x: -x)[which])(result)" in whole.contracts[4]
    # One method that cannot be made costs a note; where it is all, the proposal is at fault.
    peeks = HEAP["methods"] + [{"name": "send", "params": ["n: Int"], "made": ["task = n"], "returns": "Unit"}]
    kept, notes = judgeable_parts(heap, ClassProposal.model_validate(HEAP | {"methods": peeks}))
    assert kept == whole and [name for name, _ in notes] == ["send"]
    assert "no method send that can be called" in str(
        proposal_fault(heap, ClassProposal.model_validate(HEAP | {"methods": peeks[-1:], "contracts": []}))
    )


@pytest.mark.box
@pytest.mark.long
async def test_a_class_that_takes_functions_and_others_of_its_kind_is_adopted(
    assay: Any, server: LoopbackServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = tmp_path / "heaps.py"
    module.write_text(HEAPS)
    monkeypatch.setitem(ANSWERS, "Heap", HEAP)
    monkeypatch.setitem(ANSWERS, "gauge_of", GAUGE)
    done = await assay("heaps.py::Heap", "gauge_of", "--mutants", "10", "--json", server=server)
    assert done.code == 0, done.err
    adopted, gauge = json.loads(done.out)["result"]["adoptions"]
    # Changes that show after twenty calls are told apart by tests of as many; an error of another kind is told once.
    assert gauge["suite"][0] == gauge["suite"][1] >= gauge["measured"]["noticed"] > 4
    assert [one["promise"] for one in gauge["findings"]] == [GAUGE["contracts"][2]]
    assert [one.call for one in deviations([Adoption.model_validate(gauge)])] == ["Gaugeof(); last()"]
    found = {(one["kind"], one["promise"].partition(":")[0]) for one in adopted["findings"]}
    # A heap into which another is put is none any more: what comes out is not the least.
    assert found == {("finding", "pop"), ("left_out", "drain")}, adopted["findings"]
    (wrong,) = [one for one in adopted["findings"] if one["kind"] == "finding"]
    assert re.match(r"Heap\(which=\d\); .*merge\(more=\(.*\)\); (.*; )?pop\(\); the result was", wrong["case"])
    killed, rejected = adopted["suite"]
    assert adopted["measured"]["noticed"] > 4 and killed >= 0.95 * rejected
    await shared.native_tests_pass(tmp_path / "heaps-adopted")
    tests = (tmp_path / "heaps-adopted" / "tests" / "test_heaps.py").read_text()
    assert "    it = heap_of(1)\n" in tests and "plain(heap_merge_of(it, [" in tests and "drain" not in tests
    assert "heap_seen(heap_sift_of(it, " in tests
    assert {one.standing for one in await check(tmp_path / "heaps-adopted")} == {"holds"}
    sound = HEAPS.replace("for _, one in other._kept]", "for _, one in other._kept]\n        heapq.heapify(self._kept)")
    write_decisions(tmp_path / "heaps-adopted", {"heaps.Heap#1": "rejected"})
    await asyncio.to_thread(module.write_text, sound)
    assert [one.standing for one in await check(tmp_path / "heaps-adopted")] == ["changed", "holds"]
