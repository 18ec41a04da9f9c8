"""Asks the merge of a solution what the checks compare."""

import contextlib
import io
import os
import tempfile

from plait import Conflict, Fault, merge, parse, write
from plait.__main__ import main
from plait.values import value_of


def merged(base, ours, theirs):
    """The text, and the conflicts as plain values; or of what version which line cannot be read."""
    try:
        found = merge(base, ours, theirs)
    except Fault as fault:
        return ["fault", fault.version, fault.line]
    return [found.text, [[each.kind, each.path] for each in found.conflicts]]


def read(text):
    """The keys of entries with those of what lies in them, or the line of a fault."""
    try:
        document = parse(text)
    except Fault as fault:
        return ["fault", fault.line, str(fault) == f"line {fault.line}: {fault.reason}"]
    return [_keys(document.entries), [_keys(parse(write(document)).entries)]]


def _keys(entries):
    return [[each.key, each.kind, _keys(each.entries)] for each in entries]


def same(one, other):
    return value_of(one) == value_of(other)


def told(base, ours, theirs):
    """Conflicts are equal by what they say, and can be put in sets."""
    found = merge(base, ours, theirs).conflicts
    again = {Conflict(each.kind, each.path) for each in found}
    return [set(found) == again, [str(each) for each in found]]


def printed(*texts):
    """Exit, output and errors of the command line."""
    with tempfile.TemporaryDirectory() as room:
        paths = [os.path.join(room, str(at)) for at in range(len(texts))]
        for path, text in zip(paths, texts):
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = main(paths)
    return [code, out.getvalue(), err.getvalue() if code == 1 else ""]
