"""Random values that lie near what contracts and claims speak of, for that is where behaviour turns."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

from hypothesis import strategies as st

_FAR = 10**6
#: What may stand for a character without looking wrong: other digits and letters, beyond ASCII too; other signs.
_DIGITS, _LETTERS, _SIGNS = "0٣", "aÉ", " ,-"
_FEW = ("a", "b", "c", "ab", "ba", "aa", "", "A", "abcabc", "aaaaaaaa", "aaaaaaaaaaaa")


@dataclass(frozen=True)
class Near:
    """The constants of this system.

    Args:
        examples: texts that claims give as examples.
        texts: others that occur in contracts and claims.
        numbers: whole numbers that do.
    """

    examples: tuple[str, ...] = ()
    texts: tuple[str, ...] = ()
    numbers: tuple[int, ...] = ()

    def text(self, shortest: int = 0, longest: int | None = None) -> st.SearchStrategy[str]:
        """Texts: a few that collide; constants with a small change; the constants' signs; any at all.

        Args:
            shortest, longest: lengths in characters.
        """
        top, end = (max(8, shortest), 60) if longest is None else (min(longest, max(8, shortest)), longest)
        known = (self.examples, self.texts)
        signs = "".join(sorted({*"".join((*self.examples, *self.texts)), *_DIGITS, *_LETTERS, *_SIGNS}))
        pools = [_FEW, *(_beside(texts) for texts in known)]
        found = [st.sampled_from(fit) for pool in pools if (fit := [t for t in pool if shortest <= len(t) <= end])]
        found.append(st.text(signs, min_size=shortest, max_size=top))
        found.append(st.text(min_size=shortest, max_size=top))
        return st.one_of(*found)

    def whole(self, low: int | None = None, high: int | None = None) -> st.SearchStrategy[int]:
        """Whole numbers: small ones, that collide; those beside constants and bounds; any at all.

        Args:
            low, high: inclusive.
        """
        floor = min(-_FAR, (high or 0) - _FAR) if low is None else low
        ceiling = max(_FAR, floor + _FAR) if high is None else high
        start = min(max(floor, -20), ceiling)
        edges = (*self.numbers, *(-number for number in self.numbers), *(e for e in (low, high) if e is not None))
        beside = sorted({n for edge in edges for n in (edge - 1, edge, edge + 1) if floor <= n <= ceiling})
        near = st.integers(start, min(start + 40 if start < 0 else start + 20, ceiling))
        return st.one_of(near, *([st.sampled_from(beside)] if beside else []), st.integers(floor, ceiling))


def _beside(texts: tuple[str, ...]) -> list[str]:
    """Small changes of the texts, each once."""
    return list(dict.fromkeys(change for text in texts for change in changes(text)))


def changes(text: str) -> Iterator[str]:
    """A text, its beginnings and ends, and those that differ from it in one place."""
    yield text
    for place, sign in enumerate(text):
        before, after = text[:place], text[place + 1 :]
        kin = _DIGITS if sign.isdigit() else _LETTERS if sign.isalpha() else _SIGNS
        yield from (before, after, before + after, before + sign + sign + after)
        yield from (before + other + after for other in kin)
    yield from (f" {text}", f"{text} ", f"-{text}")


def fitting(kind: Callable[..., Any], **fields: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Records of a kind that fulfil its invariants."""
    return st.fixed_dictionaries(fields).map(partial(_made, kind)).filter(_is_there)


def _made(kind: Callable[..., Any], fields: dict[str, Any]) -> Any:
    try:
        return kind(**fields)
    except ValueError:
        return None


def _is_there(value: Any) -> bool:
    return value is not None
