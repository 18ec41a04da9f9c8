"""Sequences built item by item, so that what must hold of the whole holds of each beginning."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import repeat
from random import Random
from typing import Any

from criticality.judging.domain import Domain
from criticality.judging.shapes import TEXTUAL, Shapes, Turn, ordered
from criticality.spec.types import TypeRef

#: How items follow each other: any way, in order, alike, each number a step further, one within the other, one number
#: alone; ``far`` is as far as all of them have room, and where they are ``mixed`` the second half repeats the first.
WAYS = (
    "", "sorted", "equal", "all 1", "all -1", "all far", "all -far", "mixed far", "in 1",
    "0 1", "0 far", "0 -far", "1 1", "1 far", "2 far",
)  # fmt: skip
#: Items that are looked at one with the other, and offers that are refused one after the other.
_WINDOW, _MISSES = 12, 16
#: Items with items of their own of which, once so many were made, most are taken again.
_BANKED = 40
#: Bits of the numbers of an item that are moved: all of them, the first two, and one alone.
_EVERY, _FIRST, _ALONE = 15, 3, {"0": 1, "1": 2, "2": 4}
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
        #: A step beyond each number that anything speaks of.
        self.beyond = 1 << 12
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

    def _own(self, kind: TypeRef, item: Any, items: Sequence[Any], *, every: bool = False) -> Any:
        """Return an item with other words where its own are to be unique and were taken before, or all of its words."""
        if every and self.root(kind).name in TEXTUAL:
            return self.witness(kind, f"{item}{len(items)}")
        texts = [pair for pair in self._fields.get(kind.name, ()) if self.root(pair[1]).name in TEXTUAL]
        for name, of in (texts if every else self.keys(kind)) if item is not None else ():
            words = getattr(item, name)
            if every or any(getattr(one, name) == words for one in items):
                others = (f"{words}{len(items)}", str(len(items))) if (name, of) in texts else (self._fresh(of),)
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
        elif word in _ALONE or step.endswith("far"):
            yield from self._apart(kind, many, word, step)
        elif step:
            mask, within = self.random.choice((_EVERY, _FIRST, self.random.randrange(1, 16))), word == "in"
            yield self._first(kind, int(step), mask, wide=within * many)
            # A few items may follow in another way at last.
            until = many if many > _WINDOW or self.random.random() < 0.5 else self.random.randrange(many + 1)
            for _ in range(2 * many + _MISSES if until else 0):
                if len(items) >= until:
                    break
                further = self._further(kind, items[-1], int(step), mask, within=within) if items else ()
                yield from further or [self._fresh(kind)]
        elif word == "sorted":
            yield from ordered([item for item in (self._fresh(kind) for _ in range(many + 2)) if item is not None])
        for _ in range(8 * many + _MISSES):
            one = next(self.after(kind, items[-1])) if items else None
            yield self._fresh(kind) if one is None and (not items or many > _WINDOW) else one

    def _apart(self, kind: TypeRef, many: int, word: str, step: str) -> Iterator[Any]:
        """Yield items a step from each other or as far as all have room: by one number, or by all and their texts."""
        mask, longest = _ALONE.get(word, _EVERY), self.beyond if "far" in step else 1
        room = partial(self._room, kind, mask, many, longest)
        first = max((one for one in (self._fresh(kind) for _ in range(8)) if one is not None), key=room, default=None)
        if first is None:
            return
        places = list(range(many))[:: -1 if step < "0" else 1]
        if word == "mixed":
            places[many // 2 :] = self.random.choices(places[: many // 2], k=many - many // 2)
        for place in places:
            one = self.moved(kind, first, _some(_turns(room(first)[1] * place, 0, 0)[0], mask))
            yield one if word in _ALONE else self._own(kind, one, range(place), every=True)

    def _room(self, kind: TypeRef, mask: int, many: int, step: int, item: Any) -> tuple[bool, int, Any]:
        """Return whether steps lead beyond an item, how long they are if so many do, and how narrow it is."""
        numbers = self._some_numbers(kind, item, mask) or [0]
        while step and self.moved(kind, item, _some(_turns(step * many, 0, 0)[0], mask)) is None:
            step //= 2
        width = max(numbers) - min(numbers)
        return step > width, step, -width

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

    def _further(self, kind: TypeRef, last: Any, step: int, mask: int, *, within: bool) -> Iterator[Any]:
        """Yield an item whose numbers are a step further, or within the last one's, then those that lie beyond it."""
        if not self.numbers(kind, last):
            yield self._fresh(kind)
            return
        for some in (mask, _FIRST, _EVERY):
            held = self._some_numbers(kind, last, some)
            low, high = min(held), max(held)
            far = (high - low) * (1 if step > 0 else -1)
            for by in (1,) if within else (step, far, far + step, 8 * step):
                yield self.moved(kind, last, _some(_turns(by, low, high)[2 * within], some))

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
            yield self.moved(kind, last, _some(_turns(by, min(held), max(held))[how - 2], mask))


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
