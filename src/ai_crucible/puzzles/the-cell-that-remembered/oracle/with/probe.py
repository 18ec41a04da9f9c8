"""Asks the sheets of a solution what the checks compare."""

import contextlib
import io
import os
import sys
import tempfile

from abacus import Error, Sheet
from abacus.__main__ import main
from abacus.show import table


def plain(value):
    return ["error", value.kind, str(value)] if isinstance(value, Error) else value


def followed(steps, listed=True):
    """The answers of a sheet: steps are [name] to ask, [name, text] to set. With each the formulas evaluated."""
    sheet, seen = Sheet(), []
    for step in steps:
        if len(step) == 2:
            sheet.set(*step)
        else:
            value = plain(sheet.value(step[0]))
            seen.append([value, sorted(sheet.evaluated)] if listed else value)
    return seen


def long(count, circle, deeper):
    """The values of a long chain before and after a change, how much was evaluated, and the limit."""
    sheet, before = Sheet(), sys.getrecursionlimit()
    sys.setrecursionlimit(1000)
    try:
        for row in range(2, count + 1):
            sheet.set(f"A{row}", deeper % (row - 1))
        sheet.set("A1", f"=A{count}" if circle else "1")
        seen = [plain(sheet.value(f"A{count}"))]
        if not circle:
            seen += [len(sheet.evaluated), len(set(sheet.evaluated))]
        sheet.set("A1", "5")
        seen += [plain(sheet.value(f"A{count}")), len(sheet.evaluated), sys.getrecursionlimit()]
        sheet.value(f"A{count}")
        return [*seen, len(sheet.evaluated)]
    finally:
        sys.setrecursionlimit(before)


def others(steps):
    """Names, texts and table of a sheet."""
    sheet = Sheet()
    for name, text in steps:
        sheet.set(name, text)
    return [sheet.names(), [sheet.text(name) for name, _ in steps], table(sheet)]


def refused(name):
    """Whether a name is none."""
    seen = []
    for ask in (lambda: Sheet().value(name), lambda: Sheet().set(name, "1"), lambda: Sheet().text(name)):
        try:
            ask()
            seen.append(False)
        except ValueError:
            seen.append(True)
    return seen


def printed(text):
    """Exit and output of the command line."""
    with tempfile.TemporaryDirectory() as room:
        path = os.path.join(room, "j")
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        out = io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(io.StringIO()):
            code = main([path])
    return [code, out.getvalue()]
