"""Laws that the judge puts to the test itself: of what a witness makes and gives, whatever the witness says of it.

A posed test says first what holds, and last what has to hold then. The law is broken where the test passes on the base,
fails on the head in its last statement alone, and passes with the witness's own fix, which ties it to the finding.
``words.toml`` has the laws.
"""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice, permutations, product

from crucible.proving.change import functions
from crucible.proving.checking import words
from crucible.proving.records import FailedTest, TestRun
from llm_runtime.structs import Struct

#: Things of one witness, and tests, at the most; what is asked of a sequence beside what the witness asks.
_THINGS, _TESTS, _PLACES = 4, 80, ("1:3", "::-1", "-2:", "-1")
_IMPORTS = "import collections.abc\nimport copy\nimport pickle\nimport pytest\n"
#: What heads anything but a plain test.
_NO_TEST = r"(?m:^ *(?:async |class |@|def (?!test\w*\(\)(?: -> None)?:)))"
_FAILED, _NOT_RUN = FailedTest(kind="own"), TestRun(name="", outcome="skipped")
_SLIPS = ("TypeError", "AttributeError")


class Posed(Struct):
    """A posed test.

    Args:
        law: its row in ``words.toml``.
        of: the function that the law is of; empty where it is of a thing.
        lines: the body of the test; a statement a line, but for the last.
    """

    law: str
    of: str
    lines: str

    def broken_by(self, one: TestRun) -> bool:
        """Tell whether a run broke the law: in the last statement, by no error that a line means."""
        failure = one.failure or _FAILED
        # TypeError refuses a kind on purpose; other errors speak of what is given, which is the same.
        told = bool(self.of) and ("slip" in one.laws if failure.type in _SLIPS else failure.kind == "raised")
        return failure.kind == "assertion" or failure.type == "IndexError" or told


def posed(test: str, line: int) -> list[Posed]:
    """Return the tests that are posed beside a witness, which fails in a line; none where a name of it may mislead."""
    tree, heads = ast.parse(test), [one for one in functions(test).values() if one.lineno <= line]
    if not heads or re.search(rf"{words().own}|{_NO_TEST}", ast.unparse(tree)):
        return []
    mine = heads[-1]
    before = [one for one in mine.body if (one.end_lineno or 0) < line]
    setup = [one for one in [*tree.body, *before] if not isinstance(one, ast.FunctionDef | ast.Assert | ast.With)]
    return [*islice(dict.fromkeys(_filled(setup, mine.body[len(before)])), _TESTS)]


def _filled(before: Sequence[ast.stmt], failing: ast.stmt) -> Iterator[Posed]:
    setup, things = [*map(ast.unparse, before)], _things(before, failing)
    fillings = _fillings(things, failing) | {"argument": [*_arguments(before, failing)]}
    rows = ((law, row, one) for law, row in words().posed.items() for one in fillings[row.of])
    for law, row, one in rows:
        if re.fullmatch(row.needs, things.get(one.get("x", ""), "")):
            made = [f"{name} = {text}" for name, text in things.items() if "thing_" in name and name in one.values()]
            holds = [*setup, *made, *(each.format(**one) for each in row.holds)]
            yield from (Posed(law, one.get("f", ""), "\n".join([*holds, then.format(**one)])) for then in row.then)


def _fillings(things: Mapping[str, str], failing: ast.stmt) -> dict[str, list[Mapping[str, str]]]:
    """Return what laws are filled with, by what they are of."""
    places = dict.fromkeys([*_asked(failing), *_PLACES])
    return {
        "thing": [{"x": name, "made": made} for name, made in things.items()],
        "place": [{"x": name, **_place(name, at)} for name, at in product(things, places)],
        "pair": [{"x": name, "y": other} for name, other in permutations(things, 2)],
        "call": [*_calls(failing)],
    }


def _things(before: Sequence[ast.stmt], failing: ast.stmt) -> dict[str, str]:
    """Return what the witness makes, by its name or by one of ours: calls that have a name, and classes called."""
    pairs = [(one.targets[0], one.value) for one in before if isinstance(one, ast.Assign)]
    made = {ast.unparse(to): ast.unparse(of) for to, of in pairs if isinstance(of, ast.Call)}
    calls = {ast.unparse(one) for one in ast.walk(failing) if isinstance(one, ast.Call)}
    classes = filter(re.compile(r"(?<![\w.])(?:\w++\.)*+_*+[A-Z]\w*+\(").match, calls.difference(made.values()))
    return dict(islice((made | {f"thing_{at}": one for at, one in enumerate(sorted(classes))}).items(), _THINGS))


def _asked(failing: ast.stmt) -> Iterator[str]:
    """Yield the places and slices that the witness asks for, where they are plain."""
    for one in ast.walk(failing):
        if isinstance(one, ast.Subscript) and re.fullmatch(r"[-\d:]+", at := ast.unparse(one.slice)):
            yield at


def _place(thing: str, at: str) -> dict[str, str]:
    """Return what a place or slice of a thing is asked by, of one made anew, and what lists of both answer."""
    form = "list({}[{}])" if ":" in at else "{}[{}]"
    return {"at": form.format(thing, at), "anew": form.format("made_anew", at), "same": f"[{at}]"}


def _left(failing: ast.stmt) -> str:
    """Return what a statement asks: what stands left in a comparison."""
    inner = failing.body[0] if isinstance(failing, ast.With) else failing
    asked = inner.test if isinstance(inner, ast.Assert) else getattr(inner, "value", inner)
    return ast.unparse(asked.left if isinstance(asked, ast.Compare) else asked)


def _calls(failing: ast.stmt) -> Iterator[Mapping[str, str]]:
    """Yield what is asked of iterators, and the same of lists of what they hold; how much it is, not what."""
    asked = _left(failing)
    size = "len" if asked.startswith("list(") else "int"
    for one in ast.walk(failing):
        given = [ast.unparse(arg) for arg in one.args] if isinstance(one, ast.Call) else []
        if any(re.match(r"iter\((?!\(\)|\[\]|''|\"\")", arg) for arg in given) and "iter(" in asked:
            call = f"{size}({asked})"
            function = ast.unparse(one).partition("(")[0].rpartition(".")[2]
            yield {"call": call, "plain": re.sub(r"\biter\(", "list(", call), "f": function}


def _arguments(before: Sequence[ast.stmt], failing: ast.stmt) -> Iterator[Mapping[str, str]]:
    """Yield what is given as a literal, the call by a name for it, and the function."""
    named = {ast.unparse(one.targets[0]): ast.unparse(one.value) for one in before if isinstance(one, ast.Assign)}
    given = [(asked, *pair) for asked in [failing, *before[::-1]] for pair in _given(asked)]
    for asked, function, arg in given:
        literal, name = named.get(arg, arg), arg if arg in named else "given"
        if literal[0] in "[{" and function not in dir(builtins):
            call = _left(asked).replace(arg, name, 1)
            yield {"given": name, "literal": literal, "call": call, "f": function.rpartition(".")[2]}


def _given(asked: ast.stmt) -> Iterator[tuple[str, str]]:
    for one in ast.walk(asked):
        if isinstance(one, ast.Call):
            yield from ((ast.unparse(one.func), ast.unparse(arg)) for arg in one.args)


def posing(tests: Sequence[Posed]) -> tuple[str, list[int]]:
    """Return a file of posed tests, ``test_0`` and so on, and the line where the last statement of each begins."""
    bodies = ["\n    ".join(["", *one.lines.splitlines()]) for one in tests]
    source = "\n\n\n".join([_IMPORTS, *(f"def test_{at}():{body}" for at, body in enumerate(bodies))]) + "\n"
    return source, [functions(source)[f"test_{at}"].body[-1].lineno for at in range(len(tests))]


def broken(tests: Sequence[Posed], last: Sequence[int], runs: Sequence[Sequence[TestRun]]) -> list[Posed]:
    """Return the laws that are broken, from runs on the base, with the fix, and on the head in two surroundings."""
    named = [{one.name.rpartition("::")[2]: one for one in run} for run in runs]
    found = [[run.get(f"test_{at}", _NOT_RUN) for run in named] for at in range(len(tests))]
    return [
        test
        for test, line, (base, fixed, *heads) in zip(tests, last, found, strict=True)
        if base.outcome == fixed.outcome == "passed" and all(_falls(test, line, one) for one in heads)
    ]


def _falls(test: Posed, last: int, one: TestRun) -> bool:
    return (one.failure or _FAILED).line >= last and test.broken_by(one)
