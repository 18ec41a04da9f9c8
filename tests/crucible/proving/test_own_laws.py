"""Laws of Python's own: what breaks them is proved, and what a change may mean is not."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.crucible.proving.shop import Shop, witness

from crucible.behaviour import BEHAVIOUR
from crucible.proving import States, judge, judging
from llm_runtime.behaviour import behaving

BASE = {
    "shop/__init__.py": "",
    "shop/prices.py": "",
    "shop/lists.py": """from __future__ import annotations

import collections.abc
from typing import Any


class Money:
    def __init__(self, amount: int, unit: str = "EUR") -> None:
        self.amount = amount
        self.unit = unit
        self.note = ""

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Money):
            return NotImplemented
        return self.amount == other.amount

    def __hash__(self) -> int:
        return hash(self.amount)

    def __lt__(self, other: Money) -> bool:
        return self.amount < other.amount

    def __gt__(self, other: Money) -> bool:
        return self.amount > other.amount

    def __repr__(self) -> str:
        return f"Money({self.amount})"

    def noted(self) -> str:
        return self.note

    def close(self) -> None:
        pass


class Row(collections.abc.Sequence):
    def __init__(self, items: list[int]) -> None:
        self.items = items

    def __len__(self) -> int:
        return len(self.items)

    def __getitem__(self, at):
        return self.items[at]

    def __iter__(self):
        return iter(self.items)

    def __contains__(self, one) -> bool:
        return one in self.items

    def __reversed__(self):
        return iter(self.items[::-1])

    def index(self, one: int) -> int:
        return self.items.index(one)

    def count(self, one: int) -> int:
        return self.items.count(one)


class Table:
    def __init__(self, rows: list[int]) -> None:
        self.rows = rows

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self):
        return iter(self.rows)


def parsed(text: str) -> int:
    if not text:
        return 0
    return int(text)


def total(items: list[int]) -> int:
    return sum(items)
""",
    "tests/test_lists.py": "from shop.lists import total\n\n\ndef test_all():\n    assert total([1]) == 1\n",
}
_ROW = "x = lists.Row([1, 2])\nimport collections.abc\nassert isinstance(x, collections.abc.Sequence)\n"
_X, _Y = "x = lists.Money(1)\n", "x = lists.Money(1)\ny = lists.Money(1, 'USD')\n"
_EQ = "        if not isinstance(other, Money):\n            return NotImplemented\n"
# ruff: noqa: E501
PROVED = {
    "== fails": ([(_EQ, "")], _X + "assert (x == 'a') == False", "asks of anything"),
    "repr fails": ([('"Money({self.amount})"', '"Money({self.amount + self.unit})"')], _X + "assert repr(x) == 'Money(1)'", "asks of anything"),
    "a sequence turned round": ([("self.items[::-1]", "self.items[::-2]")], _ROW + "assert list(reversed(x)) == list(reversed(list(x)))", "sequence"),
    "a slice": ([("return self.items[at]", "return self.items[at] if at != slice(0, 2) else self.items[:1]")], _ROW + "assert list(x[0:2]) == list(list(x)[0:2])", "sequence"),
    "how many there are": ([("return len(self.items)", "return max(len(self.items), 3)")], _ROW + "assert len(x) == len(list(x))", "sequence"),
    "backwards past its end": ([("iter(self.items[::-1])", "iter([self.items[len(self.items) - at] for at in range(len(self.items))])")], _ROW + "assert list(reversed(x)) == list(reversed(list(x)))", "sequence"),
    "hashes of equals": ([("hash(self.amount)", "hash((self.amount, self.unit))")], _Y + "assert x == y\nassert hash(x) == hash(y)", "unequal hashes"),
}  # fmt: skip
MEANT = {
    "== refuses": ([("return NotImplemented", "raise TypeError('money alone')")], _X + "assert (x == 'a') == False"),
    "repr of what nobody promised": ([('"Money({self.amount})"', '"Money({self.amount:d})"')], "assert repr(lists.Money(None)) == 'Money(None)'"),
    "repr refuses": ([('return f"Money({self.amount})"', "raise ValueError('secret')")], _X + "assert repr(x) == 'Money(1)'"),
    "another repr": ([('"Money({self.amount})"', '"{self.amount} money"')], _X + "assert repr(x) == 'Money(1)'"),
    "no sequence": ([("return iter(self.rows)", "return iter(self.rows + self.rows)")], "x = lists.Table([1])\nassert len(x) == len(list(x))"),
    "slices refused": ([("        return self.items[at]", "        if isinstance(at, slice):\n            raise TypeError(at)\n        return self.items[at]")], _ROW + "assert list(x[0:1]) == list(list(x)[0:1])"),
    "slices of another kind": ([("        return self.items[at]", "        return tuple(self.items[at]) if isinstance(at, slice) else self.items[at]")], _ROW + "assert x[0:1] == list(x)[0:1]"),
    "backwards refused": ([("iter(self.items[::-1])", "iter(self.back())\n\n    def back(self):\n        raise TypeError('forward alone')")], _ROW + "assert list(reversed(x)) == list(reversed(list(x)))"),
    "what is in it by other rules": ([("return one in self.items", "return str(one) in map(str, self.items)")], _ROW + "assert ('2' in x) == ('2' in list(x))"),
    "where it is by other rules": ([("return self.items.index(one)", "return self.items.index(one) + 1")], _ROW + "assert x.index(2) == list(x).index(2)"),
    "a sequence that is not called one": ([("self.items[::-1]", "self.items[::-2]")], "x = lists.Row([1, 2])\nassert list(reversed(x)) == list(reversed(list(x)))"),
    "no list in its place": ([("self.items[::-1]", "self.items[::-2]")], _ROW + "assert list(reversed(x)) == list(reversed([1, 2]))"),
    "a call beside it": ([("return len(self.items)", "return max(len(self.items), 3)")], _ROW + "assert lists.total([len(x)]) == lists.total([len(list(x))])"),
    "no longer equal": ([("return self.amount == other.amount", "return (self.amount, self.unit) == (other.amount, other.unit)"), ("hash(self.amount)", "hash((self.amount, self.unit))")], _Y + "assert hash(x) == hash(y)"),
    "a crash": ([("    if not text:\n        return 0\n", "")], "assert lists.parsed('') == 0"),
}  # fmt: skip


async def _judged(tmp_path: Path, edits: list[tuple[str, str]], body: str, number: int = 15) -> tuple[str, str]:
    shop = Shop(tmp_path / "checkout", BASE)
    change = shop.change("shop/lists.py", *edits)
    true = witness(body, *(edit[::-1] for edit in edits if edit[1]))
    if any(not new for _, new in edits):  # what is gone is put back before what follows
        at = "        return self.amount == other.amount\n" if edits[0][0] == _EQ else "    return int(text)\n"
        true = witness(body, (at, edits[0][0] + at))
    with States(change, at=shop.folder) as run, behaving([(BEHAVIOUR, number)]):
        proof = await judge(change, true, [], "f", run)
    assert not proof.refused, proof.refused
    return proof.verdict, proof.told


@pytest.mark.box
@pytest.mark.long
@pytest.mark.parametrize("name", PROVED)
async def test_what_breaks_a_law_of_pythons_is_proved(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setattr(judging, "_AROUND", ())
    edits, body, law = PROVED[name]
    verdict, told = await _judged(tmp_path, edits, body)
    assert verdict == "proved" and law in told, told
    if "asks" not in law:  # which a box did not tell before
        (tmp_path / "old").mkdir()
        assert (await _judged(tmp_path / "old", edits, body, 14))[0] == "changed", "logs of before keep their verdicts"


@pytest.mark.box
@pytest.mark.long
@pytest.mark.parametrize("name", MEANT)
async def test_what_a_change_may_mean_is_no_broken_law(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setattr(judging, "_AROUND", ())
    verdict, told = await _judged(tmp_path, *MEANT[name])
    assert verdict == "changed", told
