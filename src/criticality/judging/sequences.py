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
from criticality.spec.values import fields_of

#: How items follow each other: any way, in order, alike, each number a step further, one number alone.
WAYS = ("", "sorted", "equal", "all 1", "all 3", "all -1", "one 1", "one 3", "one 8", "one 4096")
#: Items that are looked at one with the other, and offers that are refused one after the other.
_WINDOW, _MISSES = 12, 16
#: What a text is made of.
SIGN = TypeRef("")


class NoValue(Exception):
    """No value was made that fits."""


class Sequences(Shapes):
    """Sequences of whatever a subclass draws."""

    def __init__(self, domain: Domain, random: Random) -> None:
        super().__init__(domain)
        self.random = random

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
        fields = fields_of(self.domain.spec, kind.name) if kind.name in self.domain.spec.data_models else []
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
        misses = 0
        for offered in self._offers(kind, items, many, way):
            item = self._own(kind, offered, items)
            if len(items) >= many or misses > _MISSES:
                break
            window = items if len(items) < _WINDOW else items[-2:]
            misses += 1
            if item is not None and not (distinct and item in items) and holds((*window, item)):
                items.append(item)
                misses = 0
        if len(items) > _WINDOW and not holds(items):  # neighbours alone do not show all
            del items[bisect_left(range(len(items)), True, key=lambda n: not holds(items[: n + 1])) :]
        return items

    def _own(self, kind: TypeRef, item: Any, items: Sequence[Any]) -> Any:
        """Return an item with other words where its own are to be unique and were taken before."""
        for name, of in self.keys(kind) if item is not None else ():
            words = getattr(item, name)
            if any(getattr(one, name) == words for one in items):
                others = (
                    (f"{words}{len(items)}", str(len(items)))
                    if self.root(of).name in TEXTUAL
                    else (self._fresh(of),)
                )
                item = next((one for o in others if (one := self.put(kind, item, (name,), o)) is not None), item)
        return item

    def _offers(self, kind: TypeRef, items: Sequence[Any], many: int, way: str) -> Iterator[Any]:
        """Yield what may come next, by how the last item that was taken looks."""
        word, _, step = way.partition(" ")
        if word == "equal":
            yield from repeat(self._fresh(kind), many + 1)
        elif step:
            which = self.random.randrange(4) if word == "one" else None
            yield self._first(kind, int(step))
            for _ in range(2 * many + _MISSES):
                yield from self._further(kind, items[-1], int(step), which) if items else [self._fresh(kind)]
        elif word == "sorted":
            fresh = (self._fresh(kind) for _ in range(many + 2))
            yield from ordered([item for item in fresh if item is not None])
        for _ in range(8 * many + _MISSES):
            yield next(self.after(kind, items[-1])) if items else self._fresh(kind)

    def _fresh(self, kind: TypeRef) -> Any:
        try:
            value = self.draw(kind)
        except NoValue:
            return None
        self.note(kind, value)
        return value

    def _first(self, kind: TypeRef, step: int) -> Any:
        """Return an item with room for many after it: the narrowest, at the end that steps lead away from."""

        def room(item: Any) -> tuple[Any, Any]:
            numbers = self.numbers(kind, item) or [0]
            return max(numbers) - min(numbers), min(numbers) if step > 0 else -max(numbers)

        found = [item for item in (self._fresh(kind) for _ in range(8)) if item is not None]
        return min(found, key=room, default=None)

    def _further(self, kind: TypeRef, last: Any, step: int, which: int | None) -> Iterator[Any]:
        """Yield an item whose numbers are a step further, then those that lie beyond the last one."""
        numbers = self.numbers(kind, last)
        if not numbers:
            yield self._fresh(kind)
            return
        far = (max(numbers) - min(numbers)) * (1 if step > 0 else -1)
        if which is not None:
            at = which % len(numbers)
            yield self.moved(kind, last, lambda i, n: n + step * (i == at))
            return
        for by in (step, far, far + step):
            yield self.moved(kind, last, lambda _, n, by=by: n + by)

    def after(self, kind: TypeRef, last: Any) -> Iterator[Any]:
        """Yield what lies beside an item: alike, moved, touching it, within it, with another number, or any."""
        while True:
            if self.random.random() < 0.25:
                yield self.changed(kind, last)
                continue
            numbers, by = self.numbers(kind, last), self.random.choice((0, 1, -1, 2, 3, 10))
            chance = self.random.randrange(8)
            if not numbers or chance < 2:
                yield last if chance == 0 else self._fresh(kind)
                continue
            low, high, at = min(numbers), max(numbers), self.random.randrange(len(numbers))
            turns: list[Turn] = [
                lambda i, n, by=by: n + by, lambda i, n, by=by, far=high - low, at=at: n + far + by * (i >= at),
                lambda i, n, low=low, high=high: n + (n == low) - (n == high),
                lambda i, n, at=at, by=by: n + by * (i == at), lambda i, n, far=high - low: n - far,
                lambda i, n, at=at, high=high: high if i == at else n,
            ]  # fmt: skip
            yield self.moved(kind, last, turns[chance - 2])
