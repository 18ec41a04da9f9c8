"""Laws that a change breaks: what Python promises, a package of its own errors, and a docstring of a parameter.

A law counts only where no meant change breaks it. Laws that drawn inputs keep are none: a format, a refusal or an order
may be meant to change for some inputs, and they would be kept by all others.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Collection, Iterator
from itertools import dropwhile, takewhile

from crucible.behaviour import BEHAVIOUR
from crucible.proving.change import ChangedFile, Defined, ProvenChange, functions, parsed, within
from crucible.proving.checking import annotated, parameters, words
from crucible.proving.records import FailedTest, Ran

#: Errors that no line means which meets them: of a name that is not there; of what is written, not of what is given.
_UNBOUND, _SLIPS = ("NameError", "UnboundLocalError"), ("TypeError", "AttributeError")
_HOLDING = (ast.stmt, ast.excepthandler)


def broken_law(change: ProvenChange, failure: FailedTest, head: set[str], base: set[str]) -> str:
    """Return the law that a failure breaks, as a sentence; empty for none.

    Args:
        change: the change.
        failure: of the witness on the head.
        head: what its test says of laws there; see :class:`~crucible.proving.records.TestRun`.
        base: likewise on the base, where it passes.
    """
    told, (path, line, _) = words().laws, parsed(failure.at)
    broken = sorted((head - base) & {*told})
    if "slip" in head:
        errors = base & {f"error {name}" for name in _ahead(change.text(path), line)}
        broken = [*sorted(errors if failure.type in _SLIPS else ()), *broken]
        broken = ["unbound"] if failure.type in _UNBOUND else broken
    elif failure.kind == "raised":  # on purpose, as what reads a pickle may refuse it
        return ""
    law, _, error = next(iter(broken), "").partition(" ")
    return told[law].format(error=error, type=failure.type) if law else ""


def _ahead(text: str, line: int) -> set[str]:
    """Return what a text calls from a line straight on: until it raises, or its block turns or ends."""
    nodes = [node for one in functions(text).values() for node in ast.walk(one)]
    holding = [(one, name) for one in nodes if isinstance(one, _HOLDING) for name in ("body", "orelse", "finalbody")]
    ahead = (_straight([*getattr(one, name, ())], line) for one, name in holding)
    return next((_called(rest) for rest in ahead if rest and rest[0].lineno <= line), set[str]())


def _straight(block: list[ast.stmt], line: int) -> list[ast.stmt]:
    below = dropwhile(lambda one: (one.end_lineno or 0) < line, block)
    return [*takewhile(lambda one: isinstance(one, ast.Assign | ast.Expr | ast.Raise), below)]


def _called(rest: list[ast.stmt]) -> set[str]:
    calls = [one.func for part in rest for one in ast.walk(part) if isinstance(one, ast.Call)]
    return {ast.unparse(one).rpartition(".")[2] for one in calls}


def unmet_none(change: ProvenChange, failure: FailedTest, seen: Ran) -> str:
    """Return that None fails where it is given to a parameter whose annotation promises to take it; empty where not.

    Args:
        change: the change.
        failure: of the witness on the head, in a line that raises nothing.
        seen: of that run, what was given to what ran.
    """
    row, (path, line, _) = words().annotated["none"], parsed(failure.at)
    text, slips = change.text(path), failure.type in _SLIPS and not BEHAVIOUR.before(16)
    name = max(within(text, line, line), key=len, default="")
    source = "\n".join([*text.splitlines()[line - 1 : line], failure.message])
    body = ast.dump(functions(text)[name]) if name else ""

    def uses(given: str) -> bool:
        return f"Name(id={given!r}, ctx=Store())" not in body and bool(re.search(row["uses"].format(given), source))

    keys = as_annotated(change, seen, re.escape(f"{path}:{name}"), row["given"], row["as"]) if slips else []
    return words().laws["none"] if keys and all(uses(key.rpartition("(")[2][:-1]) for key in keys) else ""


def as_annotated(change: ProvenChange, seen: Ran, to: str, kind: str, promised: str) -> list[str]:
    """Return the arguments of a kind that were given to a function, as the probe names them; none where not all of
    them are annotated as is promised, alike on both sides.

    Args:
        change: the change.
        seen: the run in which they were given.
        to: a pattern of the function, as ``path:name``.
        kind: a pattern of the types.
        promised: of the annotation.
    """
    given = [key for key, kinds in seen.called.items() if any(map(re.compile(kind).search, kinds))]
    keys = [*filter(re.compile(rf"{to}\(").match, given)]
    return keys if all(_promised(change, key, promised) for key in keys) else []


def _promised(change: ProvenChange, key: str, promised: str) -> bool:
    before, after = annotated(change, key)
    several = rf"overload\s+(?:async )?def {re.split(r'[:.(]', key)[-2]}\b"
    alone = not any(re.search(several, f"{one.base}\n{one.head}\n{one.stub}") for one in change.files)
    return alone and before == after and bool(re.fullmatch(promised, after))


def unread_parameter(change: ProvenChange, test: str, ran: Collection[str]) -> str:
    """Return that a function reads a parameter no longer that its docstring still names, as a sentence; empty for none.

    Whoever means it changes the docstring, or says in the body what becomes of the parameter: the head contradicts
    itself, whichever of the two is wrong.

    Args:
        change: the change.
        test: of the witness; only what it gives by its name counts.
        ran: functions that ran in it, as ``path:name``.
    """
    shown = (pair for one in change.files for pair in _unread(one, ran) if re.search(rf"\b{pair[1]} ?=[^=]", test))
    name, given = next(shown, ("", ""))
    return words().laws["unread"].format(error=given, type=name) if name else ""


def _unread(one: ChangedFile, ran: Collection[str]) -> Iterator[tuple[str, str]]:
    """Yield functions with a parameter that only the base reads, and the head names but in an unchanged docstring."""
    was, now = functions(one.base or ""), functions(one.head or "")
    for name in sorted(name for name in {*was} & {*now} if f"{one.path}:{name}" in ran):
        before, after = _words(one.base, was[name]), _words(one.head, now[name])
        if _signed(was[name]) == _signed(now[name]) and after.isdisjoint(("locals", "vars")):
            yield from ((name, given) for given in _described(now[name]) if given in before - after)


def _signed(node: Defined) -> tuple[str, ...]:
    """Return what a function takes, what decorates it, and its docstring."""
    return (ast.dump(getattr(node, "args", node)), *map(ast.dump, node.decorator_list), ast.get_docstring(node) or "")


def _words(text: str | None, node: Defined) -> set[str]:
    """Return the words of a function's body, comments too; its docstring is none of it, nor what comes to nothing."""
    body = [*node.body[bool(ast.get_docstring(node)) :], node][0]
    idle = set[int]() if BEHAVIOUR.before(13) else _idle(node)
    lines = list(enumerate((text or "").splitlines(), 1))[body.lineno - 1 : node.end_lineno]
    return {*re.findall(r"\w+", "\n".join(line for at, line in lines if at not in idle or "#" in line))}


def _idle(node: Defined) -> set[int]:
    """Return the lines of what is given to a name that stands there alone; ``_kept`` says that this is meant."""
    nodes, said = [*ast.walk(node)], Counter(re.findall(r"\w+", ast.unparse(node)))
    said.subtract(re.findall(r"\w+", ast.get_docstring(node) or ""))
    given = [] if any(isinstance(one, ast.ClassDef) for one in nodes) else nodes
    single = [one for one in given if isinstance(one, ast.Assign) and len(one.targets) == 1]
    alone = [one for one in single if said[name := ast.unparse(one.targets[0])] == 1 and name[0] != "_"]
    return {line for one in alone for line in range(one.lineno, (one.end_lineno or 0) + 1)}


def _described(node: Defined) -> list[str]:
    said = ast.get_docstring(node) or ""
    return [one for one in parameters(node) if re.search(rf"[*`]{one}[*`]|\b{one} ?[=:(]", said)]
