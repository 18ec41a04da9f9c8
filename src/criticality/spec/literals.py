"""The constants that contracts and claims are written with: behaviour turns there, so tests draw near them."""

from __future__ import annotations

import ast
import tokenize
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from io import StringIO
from typing import TypeVar

from criticality.spec.claims import StructuredClaim
from criticality.spec.contracts import Contract

_LONGEST = 60
_MOST = 40
_FAR = 10**9
_T = TypeVar("_T", str, int)


@dataclass(frozen=True, slots=True)
class Literals:
    """Texts of 1 to 60 characters and whole numbers within 10^9, at most 40 of each, each once.

    They stand in the order of the specification, so that the same specification makes the same tests.

    Args:
        examples: texts in the steps of claims' tests: whole values, as a person would write them.
        texts: other texts.
    """

    examples: tuple[str, ...] = ()
    texts: tuple[str, ...] = ()
    numbers: tuple[int, ...] = ()


def literals_of(contracts: Iterable[Contract], claims: Iterable[StructuredClaim]) -> Literals:
    """Return the constants of a system.

    Args:
        contracts: of every function.
        claims: parsed, with their tests.
    """
    tests = [test for claim in claims for test in claim.tests]
    steps = [value for test in tests for text in test.steps for value in _constants(text)]
    written = [text for test in tests for text in (*test.check, *test.assume)]
    written += [p.text for contract in contracts for p in contract.predicates if p.checkable]
    others = [value for text in written for value in _constants(text)]
    examples = _first([value for value in steps if isinstance(value, str)])
    return Literals(
        examples=examples,
        texts=_first([value for value in others if isinstance(value, str) and value not in examples]),
        numbers=_first([value for value in (*steps, *others) if isinstance(value, int)]),
    )


def _first(values: Sequence[_T]) -> tuple[_T, ...]:
    return tuple(dict.fromkeys(values))[:_MOST]


def _constants(text: str) -> Iterator[str | int]:
    """Strings and whole numbers among the tokens of an expression; a sign belongs to no token."""
    try:
        for token in tokenize.generate_tokens(StringIO(text).readline):
            value = ast.literal_eval(token.string) if token.type in (tokenize.STRING, tokenize.NUMBER) else None
            if (isinstance(value, str) and 0 < len(value) <= _LONGEST) or (
                isinstance(value, int) and value <= _FAR
            ):
                yield value
    except (tokenize.TokenError, SyntaxError, ValueError):
        return
