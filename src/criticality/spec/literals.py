"""The constants that contracts and claims are written with: behaviour turns there, so tests draw near them."""

from __future__ import annotations

import re
from ast import literal_eval
from collections.abc import Iterable, Sequence
from contextlib import suppress
from functools import lru_cache
from typing import TypeVar

from criticality.spec.claims import StructuredClaim
from criticality.spec.contracts import Contract
from llm_runtime.structs import Struct

_LONGEST = 60
_MOST = 40
_FAR = 10**9
_CODED, _CODES = re.compile(r"\b(?:ord|chr)\("), 0x3000
_T = TypeVar("_T", str, int)
_QUOTED = r"""("(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')"""
_CONSTANT = re.compile(rf"{_QUOTED}|(?<![\w.])(\d[\d_]*)")
#: What a predicate says of the form of a text.
_FORM = re.compile(rf"\bmatches\([^\"']{{0,1000}},\s*{_QUOTED}\)")


class Literals(Struct):
    """Texts of 1 to 60 characters and whole numbers within 10^9, at most 40 of each, each once.

    They stand in the order of the specification, so that the same specification makes the same tests.

    Args:
        texts: those in the steps of claims' tests first: whole values, as a person would write them.
        forms: regular expressions.
    """

    texts: tuple[str, ...] = ()
    numbers: tuple[int, ...] = ()
    forms: tuple[str, ...] = ()


def literals_of(contracts: Iterable[Contract], claims: Iterable[StructuredClaim], bodies: str = "") -> Literals:
    """Return the constants of a system.

    Args:
        contracts: of every function.
        claims: parsed, with their tests.
        bodies: sources in any language; what they compare with comes first.
    """
    tests = [test for claim in claims for test in claim.tests]
    steps = [value for test in tests for text in test.steps for value in constants(text)]
    written = [text for test in tests for text in (*test.check, *test.assume)]
    written += [p.text for contract in contracts for p in contract.predicates if p.checkable]
    forms = _first([str(literal_eval(form)) for text in written for form in _FORM.findall(text)])
    own = [value for value in constants(bodies) if value not in (0, 1)]
    others = [value for text in written for value in constants(text) if value not in forms]
    if any(_CODED.search(text) for text in (bodies, *written)):  # signs that stand there as numbers
        codes = [n + by for n in (*own, *others) if isinstance(n, int) for by in (0, 1, -1)]
        others = [*(chr(code) for code in codes if 0 < code < _CODES), *others]
    texts = _first([value for value in (*steps, *own, *others) if isinstance(value, str)])
    numbers = _first([value for value in (*own, *steps, *others) if isinstance(value, int)])
    return Literals(texts=texts, numbers=numbers, forms=forms)


def _first(values: Sequence[_T]) -> tuple[_T, ...]:
    return tuple(dict.fromkeys(values))[:_MOST]


@lru_cache(maxsize=512)
def constants(text: str) -> tuple[str | int, ...]:
    """Return the strings and whole numbers of a source; a sign belongs to no number."""
    found: list[str | int] = []
    for written, digits in _CONSTANT.findall(text):
        with suppress(ValueError, SyntaxError):
            value = literal_eval(written) if written else int(digits)
            found += [value] if (value <= _FAR if isinstance(value, int) else 0 < len(value) <= _LONGEST) else []
    return tuple(found)
