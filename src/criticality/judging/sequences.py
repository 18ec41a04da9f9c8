"""Sequences built item by item, so that what must hold of the whole holds of each beginning."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from itertools import repeat
from random import Random
from typing import Any

from criticality.judging.domain import Domain
from criticality.judging.shapes import TEXTUAL, Shapes, Turn, ordered
from criticality.spec.types import TypeRef

#: How items follow each other: any way, in order, alike, each number a step further, one number alone.
WAYS = ("", "sorted", "equal", "all 1", "all 3", "all -1", "in 1", "one 1", "one 3", "one 8", "one 4096")
#: Items that are looked at one with the other, and offers that are refused one after the other.
_WINDOW, _MISSES = 12, 16
#: Items with items of their own of which, once so many were made, most are taken again.
_BANKED = 40
#: Bits of the numbers of an item that are moved: all of them.
_EVERY, _FIRST = 15, 3
#: In place of which number is moved: the next item lies within the last one.
_WITHIN = 4
#: What a text is made of.
SIGN = TypeRef("")


class NoValue(Exception):
    """No value was made that fits."""


class Sequences(Shapes):
    """Sequences of whatever a subclass draws."""

    def __init__(self, domain: Domain, random: Random) -> None:
        super().__init__(domain)
        self.random = random
        #: How the last item followed another: in which way, by how much, and which of its numbers.
        self._how = 1, 0, _EVERY
        #: How likely the next one follows in another way.
        self._anew = 0.5
        self._bank: dict[str, list[Any]] = {}
        #: The type of calls of a class, which follow each other in no way; none else.
        self.calls = ""
        #: How long each item is that is made now.
        self.each: int | None = None

    def draw(self, kind: TypeRef, constraints: tuple[str, ...] = (), size: int | None = None) -> Any:
        """Return a value of a type.

        Args:
            size: items of a list, characters of a text, the number itself.

        Raises:
            NoValue: none was made that its type allows.
        """
        raise NotImplementedError

    def changed(self, kind: TypeRef, value: Any) -> Any:
        """Return a value with one field drawn anew; ``None`` where its type does not allow that."""
        fields = self._fields.get(kind.name, [])
        if not fields:
            return self._fresh(kind)
        name, of = self.random.choice(fields)
        return self.put(kind, value, (name,), self._fresh(of))

    def built(
        self, kind: TypeRef, many: int, holds: Callable[[Sequence[Any]], bool], way: str, *, distinct: bool
    ) -> list[Any]:
        """Return items, as many as are wanted or as there are, of which what must hold holds.

        Args:
            way: how they follow each other, one of :data:`WAYS`.
        """
        items: list[Any] = []
        misses, near = 0, True
        for offered in self._offers(kind, items, many, way):
            item = self._own(kind, offered, items)
            if len(items) >= many or misses > _MISSES:
                break
            window = items[-2:] if near and len(items) >= _WINDOW else items
            misses += 1
            if item is not None and not (distinct and item in items) and holds((*window, item)):
                items.append(item)
                misses = 0
            if near and len(items) > _WINDOW and len(items) in (_WINDOW + 4, 2 * _WINDOW, 8 * _WINDOW, many):
                near = holds(items)  # neighbours alone do not show all
                del items[len(items) if near else _sound(items, holds) :]
        return items[: len(items) if not near or holds(items) else _sound(items, holds)]

    def _own(self, kind: TypeRef, item: Any, items: Sequence[Any]) -> Any:
        """Return an item with other words where its own are to be unique and were taken before."""
        for name, of in self.keys(kind) if item is not None else ():
            words = getattr(item, name)
            if any(getattr(one, name) == words for one in items):
                others = (
                    (f"{words}{len(items)}", str(len(items))) if self.root(of).name in TEXTUAL else (self._fresh(of),)
                )
                item = next((one for o in others if (one := self.put(kind, item, (name,), o)) is not None), item)
        return item

    def _offers(self, kind: TypeRef, items: Sequence[Any], many: int, way: str) -> Iterator[Any]:
        """Yield what may come next, by how the last item that was taken looks."""
        if self.calls and kind.name == self.calls:
            yield from (self.draw(kind) for _ in range(2 * many + _MISSES))
        word, _, step = way.partition(" ")
        self._anew = self.random.choice((0.5, 0.1))
        if word == "equal":
            yield from repeat(self._fresh(kind), many + 1)
        elif step:
            which = {"one": self.random.randrange(4), "in": _WITHIN}.get(word)
            mask = self.random.choice((_EVERY, _FIRST, self.random.randrange(1, 16)))
            yield self._first(kind, int(step), mask, wide=many if word == "in" else 0)
            # A few items may follow in another way at last.
            until = many if many > _WINDOW or self.random.random() < 0.5 else self.random.randrange(many + 1)
            for _ in range(2 * many + _MISSES if until else 0):
                if len(items) >= until:
                    break
                yield from self._further(kind, items[-1], int(step), which, mask) if items else [self._fresh(kind)]
        elif word == "sorted":
            fresh = (self._fresh(kind) for _ in range(many + 2))
            yield from ordered([item for item in fresh if item is not None])
        for _ in range(8 * many + _MISSES):
            yield next(self.after(kind, items[-1])) if items else self._fresh(kind)

    def _fresh(self, kind: TypeRef) -> Any:
        """Return an item; one that was made before where many were, and it has items itself."""
        bank = self._bank.setdefault(str(kind), []) if self.has_items(kind) else []
        size, self.each = self.each, None
        try:
            old = size is None and len(bank) >= _BANKED and self.random.random() < 0.7
            value = self.random.choice(bank) if old else self.draw(kind, (), size)
        except NoValue:
            return None
        finally:
            self.each = size
        if not old and len(bank) < 8 * _BANKED:
            bank.append(value)
        self.note(kind, value)
        return value

    def _first(self, kind: TypeRef, step: int, mask: int, *, wide: int) -> Any:
        """Return an item with room for many after it: the narrowest, at the end that steps lead away from.

        Args:
            wide: or one with room for so many within.
        """
        item = self._fresh(kind)
        if not self.numbers(kind, item):
            return item

        def room(item: Any) -> tuple[Any, Any]:
            numbers = self._some_numbers(kind, item, mask)
            width = max(numbers) - min(numbers)
            return -width if wide else width, min(numbers) if step > 0 else -max(numbers)

        found = [item, *(self._fresh(kind) for _ in range(7))]
        found = [one for one in found if self.numbers(kind, one)]
        for one in found[:4] if wide else ():
            held = self._some_numbers(kind, one, mask)
            found.append(self.moved(kind, one, _some(_turns(-wide, min(held), max(held))[2], mask)))
        return min((one for one in found if one is not None), key=room)

    def _some_numbers(self, kind: TypeRef, item: Any, mask: int) -> list[Any]:
        """Return those numbers of an item that a mask names; all where it names none."""
        every = self.numbers(kind, item)
        return [n for i, n in enumerate(every) if mask >> i % 4 & 1] or every

    def _further(self, kind: TypeRef, last: Any, step: int, which: int | None, mask: int) -> Iterator[Any]:
        """Yield an item whose numbers are a step further, then those that lie beyond the last one."""
        numbers = self.numbers(kind, last)
        if not numbers:
            yield self._fresh(kind)
            return
        if which is not None and which != _WITHIN:
            at = which % len(numbers)
            yield self.moved(kind, last, lambda i, n: n + step * (i == at))
            return
        for some in (mask, _FIRST, _EVERY):
            held = self._some_numbers(kind, last, some)
            low, high = min(held), max(held)
            if which == _WITHIN:
                yield self.moved(kind, last, _some(_turns(1, low, high)[2], some))
                continue
            far = (high - low) * (1 if step > 0 else -1)
            for by in (step, far, far + step, 8 * step):
                yield self.moved(kind, last, _some(_turns(by, low, high)[0], some))

    def after(self, kind: TypeRef, last: Any) -> Iterator[Any]:
        """Yield what lies beside an item, some or all of its numbers alike, moved, touching or within; or any.

        How the last one followed is as likely as any other way: so come runs of items that are related alike.
        """
        random = self.random
        while True:
            if random.random() < self._anew:
                how, by = random.randrange(8), random.choice((0, 0, 1, -1, 2, 3, 10))
                self._how = how, by, random.choice((_EVERY, _FIRST, random.randrange(1, 16)))
            how, by, mask = self._how
            held = self._some_numbers(kind, last, mask)
            if how < 2 or not held:
                yield last if how == 0 else self.changed(kind, last) if random.random() < 0.5 else self._fresh(kind)
                continue
            turn = _turns(by, min(held), max(held))[how - 2]
            yield self.moved(kind, last, _some(turn, mask))


def _sound(items: Sequence[Any], holds: Callable[[Sequence[Any]], bool]) -> int:
    """Return how many items there are up to the first one with which it no longer holds."""
    return bisect_left(range(len(items)), True, key=lambda n: not holds(items[: n + 1]))


def _turns(by: Any, low: Any, high: Any) -> list[Callable[[Any], Any]]:
    """Return how numbers move: all alike, beyond the last ones, within them, before them, the largest, and both."""
    far = high - low
    return [
        lambda n: n + by, lambda n: n + far + by, lambda n: n + by * ((n == low) - (n == high)),
        lambda n: n - far - by, lambda n: n + by * (n == high), lambda n: n + far + by * (n == high),
    ]  # fmt: skip


def _some(turn: Callable[[Any], Any], mask: int) -> Turn:
    """Return what turns those of several numbers that a mask names."""
    return lambda i, n: turn(n) if mask >> i % 4 & 1 else n
