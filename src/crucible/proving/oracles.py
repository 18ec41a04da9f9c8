"""What says that what a witness shows is wrong without anybody's reading: facts of running, and words that are code."""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from crucible.proving.case import ProofCase
from crucible.proving.change import functions, within
from crucible.proving.checking import examples, words
from crucible.proving.limits import claimed, limited
from crucible.proving.promises import calls, guards, promises
from crucible.proving.records import Oracle

_AWAITS = ("raises", "assertRaises", "assertRaisesRegex")


class _Awaited(NamedTuple):
    """An error that a test awaits: its name, the lines where, what is called there, and the test's name."""

    error: str
    lines: range
    called: set[str]
    test: str


def rests_on(case: ProofCase) -> Oracle:
    """Return what says that it is wrong; what the change itself announces is nothing of the kind."""
    if claimed(case, announced=True):
        return "none"
    if _fails_by_itself(case):
        return "hang" if case.failure.kind == "hang" else "crash"
    if _breaks_contract(case):
        return "contract"
    if case.failure.kind == "assertion" and _repeated(case) & _examples(case):
        return "example"
    return "words" if case.words else "none"


def _examples(case: ProofCase) -> set[tuple[str, str]]:
    """Return call and answer of the examples that stand in docstrings, pages and near tests."""
    texts = [*case.seen.docs.values(), *(page.text for page in (*case.change.docs, *case.change.near))]
    return {one for text in texts for one in examples(text)}


def _fails_by_itself(case: ProofCase) -> bool:
    """Tell whether it crashes or hangs on what was promised, in a function that takes it by all that is written."""
    large = case.failure.kind == "hang" and re.search(r"\d{5}|\*|e\d", case.witness.test)
    if case.failure.kind not in ("crash", "hang") or large or _awaits(case) or not (case.quick and _below(case)):
        return False  # one error in place of another is no crash where there was an answer
    found = promises(case)
    # These say that a value is not taken: it takes code that was there for the value to say that it is.
    refusing = case.failure.type in words().refusing.split() and not guards(case)
    return "not promised" not in found.values() and not refusing and not limited(case, found)


def _below(case: ProofCase) -> bool:
    """Tell whether a culprit ran below the call that fails; what stands outside of functions did."""
    last = next((set(one.last) for one in case.mine(case.head) if one.failure), set[str]())
    hunks = case.culprits if case.failure.kind == "crash" else []
    inner = [(one.path, within(case.change.text(one.path), one.head_first, one.last)) for one in hunks]
    return not inner or any(not names or {f"{path}:{name}" for name in names} & last for path, names in inner)


def _breaks_contract(case: ProofCase) -> bool:
    """Tell whether near tests show the error for what the function cannot take, and another one comes of its inside.

    The base gave the error that the witness awaits, one of the repository's own; what comes now is one of Python's
    that nothing in the change raises. Arguments have the types that near tests show, and none is called.
    """
    failure = case.failure
    error = _awaits(case)
    slipped = failure.kind == "raised" and failure.type in words().lookups.split() and not _by_culprit(case)
    if not error or hasattr(builtins, error) or not (slipped or failure.kind == "crash"):
        return False
    good = {one.name.partition("[")[0] for ran in case.held[:1] for one in ran.tests if one.outcome == "passed"}
    good = {name.rpartition("::")[2] for name in good}
    near = (one for page in case.change.near for one in _parsed(page.text) if one.error == error)
    shown = any(one.test in good and one.called & case.entries for one in near)
    return shown and "not promised" not in promises(case, of_values=False).values()


def _awaits(case: ProofCase) -> str:
    """Return the error that the line that fails awaits; empty for none."""
    return next((one.error for one in _parsed(case.witness.test) if case.failure.line in one.lines), "")


def _by_culprit(case: ProofCase) -> bool:
    """Tell whether the line that raises is one of the change's."""
    path, _, line = case.failure.at.rpartition(":")
    return any(one.path == path and one.head_first <= int(line) <= one.last for one in case.culpable)


def _parsed(text: str) -> Iterator[_Awaited]:
    try:
        yield from _awaited(ast.parse(text))
    except (SyntaxError, ValueError, RecursionError):
        return


def _awaited(tree: ast.Module) -> Iterator[_Awaited]:
    """Return the errors that the tests of a module await."""
    named = {ast.unparse(to): one.value for one in tree.body if isinstance(one, ast.Assign) for to in one.targets}
    for test in (one for one in ast.walk(tree) if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef)):
        for node in (one for one in ast.walk(test) if isinstance(one, ast.With | ast.Expr)):
            inside = [item.context_expr for item in node.items] if isinstance(node, ast.With) else [node.value]
            for one in (named.get(one.id, one) if isinstance(one, ast.Name) else one for one in inside):
                if isinstance(one, ast.Call) and one.args and ast.unparse(one.func).rpartition(".")[2] in _AWAITS:
                    called = {ast.unparse(func).rpartition(".")[2] for func in (*one.args[1:2], *calls(node))}
                    lines = range(node.lineno, (node.end_lineno or 0) + 1)
                    yield _Awaited(ast.unparse(one.args[0]).rpartition(".")[2], lines, called, test.name)


def _repeated(case: ProofCase) -> set[tuple[str, str]]:
    """Return call and answer of what the line that fails asserts, where it calls nothing of the test's own."""
    test, nodes = case.witness.test, [*ast.walk(ast.parse(case.witness.test))]
    own = {one.id for one in nodes if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)}
    own |= {name.rpartition(".")[2] for name in functions(test)}
    found = {one for line in _stated(nodes, case.failure.line) for one in examples(line)}
    return {one for one in found if own.isdisjoint(re.findall(r"\w+", one[0]))}


def _stated(nodes: Sequence[ast.AST], line: int) -> list[str]:
    """Return the assertions and calls of a test that stand at a line."""
    stated = [one for one in nodes if isinstance(one, ast.Assert | ast.Expr)]
    return [ast.unparse(one) for one in stated if one.lineno <= line <= (one.end_lineno or 0)]
