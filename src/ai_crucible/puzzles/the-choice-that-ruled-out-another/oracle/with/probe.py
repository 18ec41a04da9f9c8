"""Asks the resolver of a solution what the checks compare."""

import contextlib
import io
import os
import tempfile

from trove import TroveError, Unresolvable, parse, resolve, why
from trove.__main__ import main
from trove.ranges import Range
from trove.versions import Version


def chosen(text, wants, prefer, exclude):
    """The versions, or the wants to blame, or that something cannot be read; and how each package came in."""
    index = parse(text)
    given = list(wants), dict(prefer), list(exclude)
    try:
        found = resolve(index, wants, prefer=prefer, exclude=exclude)
    except Unresolvable as fault:
        return ["none", fault.wants, (wants, prefer, exclude) == given]
    except TroveError as fault:
        return ["fault", fault.line]
    again = resolve(index, wants, prefer=prefer, exclude=exclude) == found
    return [found, {name: why(index, wants, found, name) for name in [*found, "zz"]}, again and (wants, prefer, exclude) == given]


def explained(text, wants, solution, name):
    return why(parse(text), wants, solution, name)


def ordered(one, other):
    """Whether a version is the same as another one, before it and behind it."""
    one, other = Version(one), Version(other)
    return [one == other, one < other, other < one]


def inside(range, versions):
    return [Range(range).has(Version(one)) for one in versions]


def read(text):
    """What an index has, or the line of its fault."""
    try:
        index = parse(text)
    except TroveError as fault:
        return ["fault", fault.line, str(fault) == f"line {fault.line}: {fault.reason}"]
    return {name: [[one.version.text, one.yanked, [[each.name, each.optional] for each in one.needs]] for one in releases] for name, releases in index.items()}


def printed(text, *wants):
    """Exit and output of the command line."""
    with tempfile.TemporaryDirectory() as room:
        path = os.path.join(room, "t")
        with open(path, "w", encoding="utf-8", newline="") as file:
            file.write(text)
        out = io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(io.StringIO()):
            code = main([path, *wants])
    return [code, out.getvalue()]
