"""Functions that take or give objects: how these are made of what is drawn, and what is seen of the result."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace

from criticality.spec.predicates import PredicateFault, parse_predicate
from criticality.spec.types import parse_param
from criticality.standing import Candidate, Parameter, by_keyword

_MADE = re.compile(r"\s*(\*?[A-Za-z]\w*)\s*=(?!=)\s*(.+)", re.DOTALL)


def in_own_words(params: Sequence[str], made: Sequence[str], texts: Iterable[list[str]], of: str = "") -> None:
    """Let clauses have what is made of the language alone in its own words: what judges them knows no other name.

    Args:
        of: what the clauses begin with that are meant.
    """
    drawn = {text.partition(":")[0].strip() for text in params}
    for name, code in (found.groups() for text in made if (found := _MADE.fullmatch(text))):
        named = re.compile(rf"(?<![.\w'\"]){re.escape(name)}(?![\w'\"]|\s*=(?!=))")
        with suppress(PredicateFault):
            parse_predicate(code, known=drawn)
            for lines in texts:
                for at, line in enumerate(lines):
                    lines[at] = named.sub(lambda _, code=code: f"({code})", line) if line.startswith(of) else line


def of_drawn(candidate: Candidate, params: Sequence[str], made: Sequence[str], seen: str, *on: str) -> Candidate:
    """Return a function, a class or a method as a function of what is drawn, with the steps to what is seen.

    Args:
        on: what a method is called on.

    Raises:
        ValueError: it cannot be called so; the message says why.
    """
    drawn, makes = [parse_param(text).name for text in params], dict(map(_read, made))
    if fault := next(_faults(candidate, drawn, makes), ""):
        raise ValueError(fault)
    given = [p.name for p in candidate.parameters if p.name in {*drawn, *makes}]
    named = by_keyword(given, candidate)
    call = ", ".join(f"{name}={name}" if name in named else name for name in given)
    steps = [f"def {candidate.name}_of({', '.join([*on, *drawn])}):"]
    steps += [f"    {name.lstrip('*')} = {code}" for name, code in makes.items()]
    called = ".".join([*on, candidate.written or candidate.name])
    steps += [f"    result = first_items({called}({call}))", f"    return {_expression(seen or 'result')}"]
    return replace(candidate, steps=tuple(steps), parameters=tuple(map(Parameter, drawn)))


def _faults(candidate: Candidate, drawn: Collection[str], makes: Collection[str]) -> Iterator[str]:
    names, known = {*drawn, *makes}, {p.name: p.default for p in candidate.parameters}
    yield from (f"the function has no parameter {name} that could be made" for name in makes if name not in known)
    lacking = (name for name, default in known.items() if not default and name not in names)
    yield from (f"the parameter {name} has no default: it is among params or made" for name in lacking)
    yield from (f"{name} is the function; what is drawn has another name" for name in names & {candidate.name})


def _read(text: str) -> tuple[str, str]:
    if not (found := _MADE.fullmatch(text)):
        raise ValueError(f"{text[:80]!r} is not written 'parameter = expression'")
    code = _expression(found[2])
    return found[1], f"[*({code})]" if found[1].startswith("*") else code


def _expression(text: str) -> str:
    if not parse_predicate(text).checkable:
        raise ValueError(f"{text[:80]!r} is no expression")
    return " ".join(text.split())
