"""Asks the cache of a solution what the checks compare."""

import contextlib
import io
import os
import tempfile

from stash import Counts, ScriptError, Stash, StashError, read_script
from stash.__main__ import main


def asked(stash, name, *words):
    try:
        return getattr(stash, name)(*words)
    except StashError:
        return "refused"


def counted(stash):
    counts = stash.counts
    return [counts.hits, counts.misses, counts.expired, counts.evicted, counts.moved]


def steps(capacities, requests):
    """What comes of each request, and how all stands after it."""
    stash, seen, latest = Stash(capacities), [], 0
    for name, now, *words in requests:
        answer = asked(stash, name, now, *words)
        latest = max(latest, now)
        seen.append([answer, counted(stash), stash.keys(latest), stash.used(latest)])
    return seen


def ends(capacities, requests, kinds):
    """What comes of each request, and at the end what is looked at in an order."""
    stash, latest = Stash(capacities), 0
    seen = []
    for name, now, *words in requests:
        seen.append(asked(stash, name, now, *words))
        latest = max(latest, now)
    for kind in kinds:
        seen.append(counted(stash) if kind == "counts" else getattr(stash, kind)(latest))
    return seen


def read(text):
    """A script as plain values, or the line of its fault."""
    try:
        capacities, requests = read_script(text)
    except ScriptError as fault:
        return ["fault", fault.line, str(fault) == f"line {fault.line}: {fault.reason}"]
    return [capacities, [[now, name, *words] for now, name, words in requests]]


def values():
    """Counts begin at nothing, are equal by value, and say what they count; a refusal is a ValueError."""
    return [Counts() == Stash([1]).counts, str(Counts(1, 2, 3, 4, 5)), issubclass(StashError, ValueError)]


def printed(text):
    """Exit and output of the command line."""
    with tempfile.TemporaryDirectory() as room:
        path = os.path.join(room, "s")
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        out = io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(io.StringIO()):
            code = main([path])
    return [code, out.getvalue()]
