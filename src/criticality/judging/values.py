"""Values that a function is tried with: small ones, texts changed in one place, drawn ones, long ones.

Everything is constructed, by relation where it can be: a later number lies beside an earlier one, a record is an
earlier one with one field replaced. What a clause rules out is repaired before it is left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, product
from typing import Any

from criticality.judging.drawing import TEXTUAL, Drawn
from criticality.judging.repair import Condition, repaired
from criticality.judging.texts import changes
from criticality.spec.types import TypeRef

#: Sizes of long values, and how many other arguments are drawn beside each.
_SIZES = ((64, 4), (300, 1))
#: How items of a long list are made: drawn, or with one number or all of them a step further each time.
_FAMILIES = ("", "one 1", "one 3", "all 4")


@dataclass(frozen=True, slots=True)
class Case:
    """Arguments, and where they come from: ``pinned``, ``small``, ``text``, ``drawn`` or ``long``."""

    args: tuple[Any, ...]
    origin: str


@dataclass(frozen=True, slots=True)
class Counts:
    """How many cases of each origin are made at most."""

    small: int = 600
    text: int = 1200
    drawn: int = 300


class Values(Drawn):
    """Values of a specification's types, always the same for the same seed.

    Args:
        literals: the constants that contracts and claims are written with.
        results: values that accepted functions gave, by type.
    """

    def cases(
        self,
        kinds: Sequence[tuple[str, TypeRef]],
        conditions: Sequence[Condition],
        pinned: Sequence[tuple[Any, ...]] = (),
        counts: Counts | None = None,
    ) -> Iterator[Case]:
        """Yield cases for named values of some types, each once, that fulfil the conditions."""
        counts = counts or Counts()
        known: set[str] = set()
        stages: tuple[tuple[str, Iterator[tuple[Any, ...]], int], ...] = (
            ("pinned", iter(pinned), len(pinned)),
            ("small", self._scope(kinds, 4 * counts.small), counts.small),
            ("text", self._changed(kinds, 4 * counts.text), counts.text),
            ("drawn", self._drawn(kinds, counts.drawn), counts.drawn),
            ("long", self._long(kinds), 5 * len(_FAMILIES) * len(kinds)),
        )
        for origin, stage, most in stages:
            for args in islice(self._fitting(kinds, stage, conditions, known), most if kinds else 1):
                yield Case(args, origin)

    def _fitting(
        self,
        kinds: Sequence[tuple[str, TypeRef]],
        stage: Iterator[tuple[Any, ...]],
        conditions: Sequence[Condition],
        known: set[str],
    ) -> Iterator[tuple[Any, ...]]:
        names = [name for name, _ in kinds]
        absent = [self.root(kind).name in ("Option", "Unit") for _, kind in kinds]
        for args in stage:
            # A value that could not be made is no case.
            if any(value is None and not may for value, may in zip(args, absent, strict=True)):
                continue
            held = dict(zip(names, args, strict=True))
            fitted = repaired(held, dict(kinds), conditions, self)
            if fitted is None:
                continue
            args = tuple(fitted[name] for name in names)
            key = repr(args)
            if key not in known:
                known.add(key)
                yield args

    def _scope(self, kinds: Sequence[tuple[str, TypeRef]], most: int) -> Iterator[tuple[Any, ...]]:
        pools = [self.small(kind) for _, kind in kinds]
        total = 1
        for pool in pools:
            total *= len(pool)
        if total <= most:
            yield from product(*pools)
            return
        for number in range(most):
            if number < max(map(len, pools)):  # every value of every pool once, beside the first of the others
                yield tuple(pool[number % len(pool)] for pool in pools)
            yield tuple(self.random.choice(pool) for pool in pools)

    def _changed(self, kinds: Sequence[tuple[str, TypeRef]], most: int) -> Iterator[tuple[Any, ...]]:
        """Texts that differ from a whole one in one place; everything else is small."""
        pools = [self.small(kind) for _, kind in kinds]
        textual = [at for at, (_, kind) in enumerate(kinds) if all(pools) and self.root(kind).name in TEXTUAL]
        made = 0
        for at in textual:
            kind = kinds[at][1]
            numbers = [str(n) for n in (*self.literals.numbers, 7, 10, 255)]
            results = [str(v) for v in self.results.get(str(kind), ())][:12]
            whole = dict.fromkeys([*self.literals.examples, *results, *self.literals.texts, *numbers])
            for text in dict.fromkeys(change for one in whole for change in (one, *changes(one))):
                value = self.witness(kind, text)
                if value is None:
                    continue
                others = [self.random.choice(pool) for pool in pools]
                others[at] = value
                yield tuple(others)
                made += 1
                if made >= most:
                    return

    def _drawn(self, kinds: Sequence[tuple[str, TypeRef]], count: int) -> Iterator[tuple[Any, ...]]:
        for _ in range(2 * count if kinds else 1):
            self._seen, self._family = {}, ""
            yield tuple(self.draw(kind) for _, kind in kinds)

    def _long(self, kinds: Sequence[tuple[str, TypeRef]]) -> Iterator[tuple[Any, ...]]:
        """Long values of each argument that can be long: drawn, or families of items that lie beside each other."""
        for at, (_, kind) in enumerate(kinds):
            for (size, beside), family in product(_SIZES if self._grows(kind) else (), _FAMILIES):
                self._seen, self._family = {}, family
                whole = self.draw(kind, size=size)
                for _ in range(beside if whole is not None and len(kinds) > 1 else 1):
                    yield tuple(whole if other == at else self.draw(k) for other, (_, k) in enumerate(kinds))
