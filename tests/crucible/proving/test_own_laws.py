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
from collections.abc import Iterable, Sequence


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


class Bag:
    def __init__(self, items: Iterable[int], closed: bool = True) -> None:
        self.items: list[int | None] = [*items]
        self.closed = closed

    def drop(self, one: int) -> None:
        self.items = [None if item == one else item for item in self.items]

    def real(self) -> list[int]:
        return [item for item in self.items if item is not None]

    def __len__(self) -> int:
        return len(self.real())

    def __iter__(self):
        return iter(self.real())

    def __getitem__(self, at):
        return self.real()[at]


class Tags(collections.abc.Set):
    def __init__(self, items: Iterable[str]) -> None:
        self.tags = [*items]

    def __len__(self) -> int:
        return len(self.tags)

    def __iter__(self):
        return iter(self.tags)

    def __contains__(self, one) -> bool:
        return one in self.tags

    def __and__(self, other):
        return Tags(one for one in self.tags if one in other)

    def __sub__(self, other):
        return Tags(one for one in self.tags if one not in other)


class Cents(dict):
    def __init__(self, items: dict[str, int]) -> None:
        super().__init__()
        for key in items:
            self[key] = items[key]

    def __setitem__(self, key: str, value: int) -> None:
        super().__setitem__(key, value)


class Many(dict):
    def __init__(self, pairs: Iterable[tuple[str, int]] = ()) -> None:
        super().__init__()
        for key, value in pairs:
            self.setdefault(key, []).append(value)

    def __setitem__(self, key: str, value: int) -> None:
        super().__setitem__(key, [value])

    def __getstate__(self):
        return [*self.items()]

    def __setstate__(self, state) -> None:
        for key, values in state:
            super().__setitem__(key, values)

    def __reduce__(self):
        return (Many, (), self.__getstate__())


class Login:
    def __init__(self, name: str, word: str) -> None:
        self.name = name
        self.word = word

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Login) and (self.name, self.word) == (other.name, other.word)

    def __hash__(self) -> int:
        return hash(self.name)


def pairs(items: Iterable[int]) -> list[tuple[int, int]]:
    items = [*items]
    return [(one, other) for one in items for other in items]


def cut(items: Iterable[int], size: int = 2) -> list[list[int]]:
    items = [*items]
    return [items[at : at + size] for at in range(0, len(items), size)]


def ordered(items: Sequence[int]) -> list[int]:
    return sorted(items)


def marked(text: str, mark: str | None = None) -> str:
    if mark is None:
        return text
    return text + mark


KNOWN = {"a": "b"}


def named(key: str, mark: str | None) -> str:
    mark = mark or "-"
    return mark + KNOWN.get(key, "")


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
_ABC, _RAISES = "one = 1\nimport collections.abc\n", "with pytest.raises(IndexError):\n    "
_SAME = "assert type(x) is type(y)\n"
_COPY = "one = 1\nimport copy\nimport pickle\n"
_BAG = "x = lists.Bag([1, 2, 3, 4, 5])\nx.drop(2)\ny = lists.Bag(list(x))\nassert [x[i] for i in range(len(x))] == list(x) == list(y)\n"
_ENDS = (
    "x = lists.Bag([1, 2])\nassert [x[i] for i in range(-len(x), len(x))] == list(x) * 2\n" + _RAISES + "x[len(x)]\n"
)
_TAGS = (
    _ABC
    + "x = lists.Tags(['a', 'b'])\ny = lists.Tags(['b'])\nassert isinstance(x, collections.abc.Set)\nassert [[e in x, e in y] for e in [*x, *y]] == [[e in list(x), e in list(y)] for e in [*x, *y]]\nassert [len(list(x)), len(list(y))] == [len(set(x)), len(set(y))]\n"
)
_MANY = (
    _COPY
    + "x = lists.Many([('a', 1), ('a', 2)])\ny = lists.Many([('a', 1), ('a', 2)])\nassert x is not y\nassert x == y\n"
)
_LOGIN = _COPY + "x = lists.Login('a', 'b')\ny = lists.Login('a', 'b')\nassert x is not y\nassert x == y\n"
_TWICE = "assert len(list({0}([1, 2]))) == len(list({0}([1, 2])))\nassert len(list({0}(iter([1, 2])))) == len(list({0}([1, 2])))"
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
    "a slice of what is like a list": ([("        return self.real()[at]", "        return [one for one in self.items[at] if one] if isinstance(at, slice) else self.real()[at]")], _BAG + "assert list(y[1:3]) == list(list(y)[1:3])\nassert list(x[1:3]) == list(list(x)[1:3])", "sequence"),
    "before its beginning": ([("return self.real()[at]", "return self.real()[at + len(self) if at < 0 else at]")], _ENDS + _RAISES + "x[-len(x) - 1]", "sequence"),
    "what is in both": ([("self.tags if one in other", "self.tags[:1] if one in other")], _TAGS + "assert set(x & y) == set(x) & set(y)", "collections.abc.Set"),
    "iterated once": ([("        self.items = items\n", "        self.items = items\n        self.rest = iter(items)\n"), ("        return iter(self.items)\n\n    def __contains__(self, one) -> bool:\n        return one in self.items\n\n    def __reversed__", "        return self.rest\n\n    def __contains__(self, one) -> bool:\n        return one in self.items\n\n    def __reversed__")], _ROW + "assert len(list(x)) == len(list(x))", "a second time"),
    "== one way": ([("return self.amount == other.amount", "return self.amount == other.amount and self.unit in ('EUR', other.unit)")], _Y + _SAME + "assert hash(x) == hash(y)\nassert x == y\nassert y == x", "comes first"),
    "> turned round": ([("return self.amount > other.amount", "return other.amount > self.amount")], "x = lists.Money(1)\ny = lists.Money(2)\n" + _SAME + "assert (x < y) is True\nassert (y > x) is not False", "another comparison"),
    "a copy counts twice": ([("__setitem__(key, value)\n\n\nclass Many", "__setitem__(key, value * 100)\n\n\nclass Many")], _COPY + "x = lists.Cents({'a': 1})\ny = lists.Cents({'a': 1})\nassert x is not y\nassert x == y\nassert copy.copy(x) == x", "a copy"),
    "a copy loses what a pickle keeps": ([("def __reduce__", "def reduced")], _MANY + "assert pickle.loads(pickle.dumps(x)) == x\nassert copy.deepcopy(x) == x", "a copy"),
    "an iterator used up": ([("    items = [*items]\n    return [(one", "    return [(one")], _TWICE.format("lists.pairs"), "Iterable"),
    "an iterator has no length": ([("    items = [*items]\n    return [items[at", "    return [[*items][at")], "assert list(lists.cut([1, 2, 3])) == list(lists.cut([1, 2, 3]))\nassert list(lists.cut(iter([1, 2, 3]))) == list(lists.cut([1, 2, 3]))", "Iterable"),
    "what is given is sorted": ([("    return sorted(items)", "    items.sort()\n    return items")], "a = [2, 1]\nlists.ordered(a)\nassert a == [2, 1]", "only read"),
    "a slice, asked for plainly": ([("        return self.real()[at]", "        return [one for one in self.items[at] if one] if isinstance(at, slice) else self.real()[at]")], "x = lists.Bag([1, 2, 3, 4, 5])\nx.drop(2)\nassert list(x[1:3]) == [3, 4]", "sequence"),
    "a copy, asked for plainly": ([("__setitem__(key, value)\n\n\nclass Many", "__setitem__(key, value * 100)\n\n\nclass Many")], "one = 1\nimport copy\nx = lists.Cents({'a': 1})\nassert copy.copy(x)['a'] == 1", "a copy"),
    "a set, asked for plainly": ([("self.tags if one in other", "self.tags[:1] if one in other")], "x = lists.Tags(['a', 'b'])\ny = lists.Tags(['b'])\nassert list(x & y) == ['b']", "collections.abc.Set"),
    "classes without a name": ([("hash(self.amount)", "hash((self.amount, self.unit))")], "assert len({lists.Money(1), lists.Money(1, 'USD')}) == 1", "unequal hashes"),
    "an iterator, asked for plainly": ([("    items = [*items]\n    return [(one", "    return [(one")], "assert list(lists.pairs(iter([1, 2]))) == [(1, 1), (1, 2), (2, 1), (2, 2)]", "Iterable"),
    "a sequence that is not called one": ([("self.items[::-1]", "self.items[::-2]")], "x = lists.Row([1, 2])\nassert list(reversed(x)) == list(reversed(list(x)))", "sequence"),
    "no list in its place": ([("self.items[::-1]", "self.items[::-2]")], _ROW + "assert list(reversed(x)) == list(reversed([1, 2]))", "sequence"),
    "a call beside it": ([("return len(self.items)", "return max(len(self.items), 3)")], _ROW + "assert lists.total([len(x)]) == lists.total([len(list(x))])", "sequence"),
    "None is added": ([("    if mark is None:\n        return text\n", "")], "assert lists.marked('a', None) == 'a'", "None, which"),
}  # fmt: skip
#: What a change may mean, written to look like a broken law.
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
    "no longer equal": ([("return self.amount == other.amount", "return (self.amount, self.unit) == (other.amount, other.unit)"), ("hash(self.amount)", "hash((self.amount, self.unit))")], _Y + "assert hash(x) == hash(y)"),
    "a crash": ([("    if not text:\n        return 0\n", "")], "assert lists.parsed('') == 0"),
    "slices with their end": ([("        return self.real()[at]", "        return self.real()[at.start : at.stop + 1] if isinstance(at, slice) else self.real()[at]")], _BAG + "assert list(y[1:3]) == list(list(y)[1:3])\nassert list(x[1:3]) == list(list(x)[1:3])"),
    "slices of one that says so": ([("        return self.real()[at]", "        return self.real()[at.start : at.stop + 1] if isinstance(at, slice) and not self.closed else self.real()[at]")], _BAG.replace("5])", "5], False)") + "assert list(y[1:3]) == list(list(y)[1:3])\nassert list(x[1:3]) == list(list(x)[1:3])"),
    "round and round": ([("return self.real()[at]", "return self.real()[at % len(self)]")], _ENDS + _RAISES + "x[-len(x) - 1]"),
    "sets that take no heed of case": ([("return one in self.tags", "return one.lower() in [item.lower() for item in self.tags]")], _TAGS.replace("['b']", "['B']") + "assert set(x & y) == set(x) & set(y)"),
    "sets that count": ([("return Tags(one for one in self.tags if one not in other)", "return Tags([one for at, one in enumerate(self.tags) if one in self.tags[:at] or one not in other])")], _TAGS.replace("['a', 'b']", "['b', 'b']").rpartition('assert')[0] + "assert set(x - y) == set(x) - set(y)"),
    "iterated once and no sequence": ([("        self.rows = rows\n", "        self.rows = iter(rows)\n"), ("return iter(self.rows)", "return self.rows"), ("return len(self.rows)", "return 1")], _ABC + "x = lists.Table([1])\nassert isinstance(x, collections.abc.Collection)\nassert len(list(x)) == len(list(x))".replace("Collection", "Sized")),
    "> makes something else": ([("return self.amount > other.amount", "return (self, other)")], "x = lists.Money(1)\ny = lists.Money(2)\n" + _SAME + "assert (x < y) is True\nassert (x > y) is False"),
    "a copy is a draft": ([("    def __hash__(self) -> int:\n        return hash(self.name)", "    def __hash__(self) -> int:\n        return hash(self.name)\n\n    def __copy__(self):\n        return Login(self.name, 'draft')")], _LOGIN + "assert pickle.loads(pickle.dumps(x)) == x\nassert copy.copy(x) == x"),
    "a secret is not kept": ([("    def __hash__(self) -> int:\n        return hash(self.name)", "    def __hash__(self) -> int:\n        return hash(self.name)\n\n    def __getstate__(self):\n        return {'name': self.name, 'word': ''}")], _LOGIN + "assert pickle.loads(pickle.dumps(x)) == x"),
    "one of each": ([("class Login:\n", "MADE = {}\n\n\nclass Login:\n    def __new__(cls, *words):\n        return MADE.setdefault(words, super().__new__(cls))\n\n"), ("return isinstance(other, Login) and (self.name, self.word) == (other.name, other.word)", "return self is other")], _LOGIN.replace("assert x is not y\n", "") + "assert copy.deepcopy(x) == x"),
    "iterators refused": ([("    items = [*items]\n    return [(one", "    if not isinstance(items, list):\n        raise TypeError('a list, please')\n    return [(one")], _TWICE.format("lists.pairs")),
    "no longer any iterable": ([("def pairs(items: Iterable[int])", "def pairs(items: Sequence[int])"), ("    items = [*items]\n    return [(one", "    return [(one")], _TWICE.format("lists.pairs")),
    "nothing at all is the usual": ([("    items = [*items]\n    return [(one", "    items = [*(items or [7])]\n    return [(one")], _TWICE.format("lists.pairs").replace("[1, 2]", "[]")),
    "what has no length is streamed": ([("    items = [*items]\n    return [(one", "    items = [*items] if hasattr(items, '__len__') else [*items][:1]\n    return [(one")], _TWICE.format("lists.pairs")),
    "a list is sorted in its place": ([("    return sorted(items)", "    if isinstance(items, list):\n        items.sort()\n    return items")], "a = [2, 1]\nlists.ordered(a)\nassert a == [2, 1]"),
    "some stay whatever is taken away": ([("if one not in other)", "if one not in other or one == 'b')")], _TAGS + "assert set(x - y) == set(x) - set(y)"),
    "a text is one": ([("    items = [*items]\n    return [(one", "    items = [items] if isinstance(items, str) else [*items]\n    return [(one")], _TWICE.format("lists.pairs").replace("[1, 2]", "'ab'")),
    "parts like what is given": ([("    items = [*items]\n    return [items[at", "    cls = list if isinstance(items, list) else tuple\n    items = cls(items)\n    return [items[at")], "assert list(lists.cut([1, 2, 3])) == list(lists.cut([1, 2, 3]))\nassert list(lists.cut(iter([1, 2, 3]))) == list(lists.cut([1, 2, 3]))"),
    "another answer the second time": ([("    items = [*items]\n    return [(one", "    items = [*items, *KNOWN]\n    KNOWN[str(len(KNOWN))] = ''\n    return [(one")], _TWICE.format("lists.pairs").replace("len(list(lists.pairs([1, 2]))) == len(list(lists.pairs([1, 2])))\n", "lists.pairs([1]) != 4\n")),
    "the answer of a call, sorted": ([("    return sorted(items)", "    return sorted(items, reverse=True)")], "a = [1, 2]\na = lists.ordered(a)\nassert a == [1, 2]"),
    "the list itself comes back": ([("    return sorted(items)", "    return items")], "a = [1, 2]\nx = lists.ordered(a)\nx.append(3)\nassert a == [1, 2]"),
    "None from elsewhere": ([('KNOWN.get(key, "")', "KNOWN.get(key)")], "assert lists.named('x', None) == '-'"),
    "None means another": ([('mark or "-"', "mark or KNOWN.get('z')")], "assert lists.named('a', None) == '-b'"),
    "None refused": ([("        return text\n    return text + mark", "        raise TypeError('NoneType')\n    return text + mark")], "assert lists.marked('a', None) == 'a'"),
    "None no longer promised": ([("def marked(text: str, mark: str | None = None)", "def marked(text: str, mark: str)"), ("    if mark is None:\n        return text\n    return text", "    return text")], "assert lists.marked('a', None) == 'a'"),
    "hash by another name": ([("    return int(text)", "    KNOWN[text] = KNOWN.get(text, '') + text\n    return int(KNOWN[text])")], "one = 1\nfrom shop.lists import parsed as hash\nx = '1'\ny = '1'\nassert x == y\nassert hash(x) == hash(y)"),
    "another y": ([("return self.amount == other.amount", "return (self.amount, self.unit) == (other.amount, other.unit)"), ("hash(self.amount)", "hash((self.amount, self.unit))")], _Y.replace(", 'USD'", "") + "assert x == y\ny = lists.Money(1, 'USD')\nassert hash(x) == hash(y)"),
}  # fmt: skip


#: What follows upon what is gone.
_AFTER = {
    _EQ: "        return self.amount == other.amount\n",
    "    if not": "    return int(text)\n",
    "    if mark": "    return text + mark\n",
}


async def _judged(tmp_path: Path, edits: list[tuple[str, str]], body: str, number: int = 16) -> tuple[str, str]:
    shop = Shop(tmp_path / "checkout", BASE)
    change = shop.change("shop/lists.py", *edits)
    true = witness(body, *(edit[::-1] for edit in edits if edit[1]))
    if any(not new for _, new in edits):  # what is gone is put back before what follows
        at = next(line for start, line in _AFTER.items() if edits[0][0].startswith(start))
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
        assert (await _judged(tmp_path / "old", edits, body, 15))[0] == "changed"


@pytest.mark.box
@pytest.mark.long
@pytest.mark.parametrize("name", MEANT)
async def test_what_a_change_may_mean_is_no_broken_law(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setattr(judging, "_AROUND", ())
    verdict, told = await _judged(tmp_path, *MEANT[name])
    assert verdict == "changed", told


@pytest.mark.box
@pytest.mark.long
@pytest.mark.parametrize(
    ("stub", "changes", "pages", "verdict"),
    [
        ("Iterable[int]", False, ("", ""), "proved"),
        ("Sequence[int]", False, ("", ""), "changed"),
        ("Iterable[int]", True, ("", ""), "changed"),
        ("Iterable[int]", False, ("", "`pairs` takes lists alone."), "changed"),
        ("Iterable[int]", False, ("`pairs` only takes lists.", "`pairs` only takes lists."), "changed"),
    ],
)
async def test_a_stub_promises_what_no_annotation_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stub: str, changes: bool, pages: tuple[str, str], verdict: str
) -> None:
    monkeypatch.setattr(judging, "_AROUND", ())
    text = BASE["shop/lists.py"].replace("def pairs(items: Iterable[int])", "def pairs(items)")
    promise = f"from typing import Iterable, Sequence\ndef pairs(items: {stub}) -> list[tuple[int, int]]: ...\n"
    shop = Shop(
        tmp_path / "checkout", {**BASE, "shop/lists.py": text, "shop/lists.pyi": promise, "README.md": pages[0]}
    )
    edits, body, _ = PROVED["an iterator used up"]
    more = {"shop/lists.pyi": promise + "def other() -> None: ...\n"} if changes else {}
    change = shop.change("shop/lists.py", *edits, more=more | {"README.md": pages[1]})
    with States(change, at=shop.folder) as run:
        proof = await judge(change, witness(body, *(edit[::-1] for edit in edits)), [], "f", run)
    assert proof.verdict == verdict, proof


@pytest.mark.box
@pytest.mark.long
async def test_a_page_that_names_the_class_says_that_a_law_of_it_is_meant_to_break(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(judging, "_AROUND", ())
    shop = Shop(tmp_path / "checkout", {**BASE, "README.md": "A\n"})
    edits, body, _ = PROVED["a slice"]
    change = shop.change("shop/lists.py", *edits, more={"README.md": "A `Row` ends where it wants.\n"})
    true = witness(body, *(edit[::-1] for edit in edits))
    with States(change, at=shop.folder) as run:
        assert (await judge(change, true, [], "f", run)).verdict == "changed"
