"""Clauses that a model states are evaluated in our own process: they reach nothing outside."""

from __future__ import annotations

from pathlib import Path

import pytest
from turnstile_system import SPEC

from criticality.judging.domain import Domain
from criticality.spec.predicates import PredicateFault, parse_predicate
from criticality.spec.spec import Spec

CANARY = "q7canary"
#: What would reach outside, if anything did; FILE is one that must not be read.
HOSTILE = (
    "open(FILE).read()", "__import__('os').system('true')", "().__class__.__base__.__subclasses__()",
    "'{0.__class__}'.format(1)", "'%s'.__mod__(1)", "f'{open(FILE)}'", "(lambda: open(FILE).read())()",
    "__builtins__['open'](FILE)", "[x for x in (1,)].__iter__()", "len.__self__.open(FILE)", "str.mro()",
    "reduce(open, [FILE])", "max([FILE], key=open)", "sorted([FILE], key=eval)", "bytes(10 ** 12)",
    "int.__subclasses__()", "Decimal(1).__reduce__()", "dict.fromkeys([1]).__class__", "type(1)", "vars()",
    "getattr(1, 'real')", "globals()", "'a'.encode().decode('os.path')", "isinstance.__self__", "zip.__doc__",
    "replace(1, __class__=int)", "abs.__globals__", "(x := open(FILE))", "await open(FILE)", "yield FILE",
)  # fmt: skip


@pytest.mark.parametrize("text", HOSTILE)
def test_a_clause_reaches_nothing_outside(text: str, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text(CANARY)
    domain = Domain(Spec.model_validate(SPEC))
    try:
        code = parse_predicate(text.replace("FILE", repr(str(secret)))).code
        came = domain.evaluate(code, {}) if code else None
    except (PredicateFault, ArithmeticError, LookupError, NameError, TypeError, ValueError):
        came = None
    assert came is None or (isinstance(came, str) and CANARY not in came and "class" not in came)
