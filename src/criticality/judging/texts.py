"""Texts that functions are tried with: plain ones, those of a form, and those that differ in one place."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from importlib import import_module
from itertools import islice
from random import Random
from typing import Any

#: Texts that every function is tried with.
PLAIN = ("", "a", "b", "ab", "ba", "A", "0", " ", "aa", "abcabc")
SIGNS = "09٣./-+_ \n"


@lru_cache(maxsize=512)
def some_changes(text: str) -> tuple[str, ...]:
    """Return the first of the texts that differ in a single place, so that one can be chosen."""
    return tuple(islice(changes(text), 400))


def changes(text: str) -> Iterator[str]:
    """Yield texts that differ in one place: a sign put in, left out or exchanged, a part doubled, dropped, stepped."""
    for at in range(len(text) + 1):
        yield from (text[:at] + sign + text[at:] for sign in SIGNS)
    for at, sign in enumerate(text):
        others = ("", "٣", *(chr(max(0, ord(sign) + by)) for by in (1, -1) if sign.isalnum()))
        yield from (text[:at] + other + text[at + 1 :] for other in others)
    yield from (text.swapcase(), text.upper(), text.lower(), text[::-1])
    for sign in sorted({s for s in text if not s.isalnum()}):
        parts = text.split(sign)
        for at, part in enumerate(parts):
            before, after = parts[:at], parts[at + 1 :]
            others = [[part, part], [""], []]
            others += [[str(int(part) + 1)], [str(int(part) - 1)]] if part.isascii() and part.isdigit() else []
            yield from (sign.join([*before, *other, *after]) for other in others)
        yield from (sign.join([*parts, part]) for part in parts[-1:])
    if text.isascii() and text.isdigit():
        yield from (str(int(text) + 1), str(int(text) - 1))


def letters(way: str) -> str:
    """Return what a long text repeats, by the way in which items of a sequence would follow each other."""
    return {"equal": "a", "sorted": "abc", "all 1": "01", "all 3": "aab", "all -1": "ba"}.get(way, "a b")


def formed(pattern: str, random: Random, slips: float = 0.0) -> str:
    """Return a text of a form: a regular expression that takes the whole of it.

    Args:
        slips: how likely each part of it is left out, doubled, moved or another sign: texts just outside of the form.
    """
    parser: Any = import_module("re._parser")
    return "".join(_signs(list(parser.parse(pattern)), random, slips))


def _signs(nodes: list[Any], random: Random, slips: float) -> Iterator[str]:
    if random.random() < slips:
        at = random.randrange(len(nodes) + 1)
        nodes = random.choice(([*nodes[:at], *nodes[at + 1 :]], [*nodes, *nodes], [*nodes[at:], *nodes[:at]]))
    for code, held in nodes:
        match str(code):
            case "LITERAL":
                yield chr(held)
            case "NOT_LITERAL" | "ANY":
                yield random.choice("a0 ")
            case "IN":
                yield _outside(held, random) if random.random() < slips else _member(held, random)
            case "BRANCH":
                yield from _signs(list(random.choice(held[1])), random, slips)
            case "SUBPATTERN":
                yield from _signs(list(held[-1]), random, slips)
            case "MAX_REPEAT" | "MIN_REPEAT" | "POSSESSIVE_REPEAT":
                low, high, inner = held
                more = random.choice((-1, 1)) if random.random() < slips else 0
                for _ in range(random.randint(low, min(int(high), low + 3)) + more):
                    yield from _signs(list(inner), random, slips)
            case _:
                continue


def _outside(ranges: Any, random: Random) -> str:
    """Return a sign just beside those of a class, or one that only looks like them."""
    held = [one for code, one in ranges if str(code) == "RANGE"]
    return random.choice([*(chr(sign) for low, high in held for sign in (low - 1, high + 1) if sign >= 0), *"٣é_ "])


def _member(ranges: Any, random: Random) -> str:
    known = {"CATEGORY_DIGIT": "0123456789", "CATEGORY_SPACE": " \t", "CATEGORY_WORD": "aZ_9"}
    if str(ranges[0][0]) == "NEGATE":
        return random.choice(
            [s for s in "aZ0_- .é" if not any(s in _members(one, known) for one in ranges[1:])] or ["~"]
        )
    return random.choice(_members(random.choice(ranges), known))


def _members(entry: Any, known: dict[str, str]) -> str:
    code, held = entry
    if str(code) == "RANGE":
        return "".join(map(chr, range(held[0], held[1] + 1)))
    return chr(held) if str(code) == "LITERAL" else known.get(str(held), "a")
