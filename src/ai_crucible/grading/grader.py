"""Runs in the grading box, where alone the oracle is mounted: plans the exercises, judges what was seen.

``plan SEED DRAWS`` prints what is to be run in another box, with nothing of what is expected. ``declared`` prints
the copy that it is run on: the untouched puzzle with the changes that the puzzle declares, so that whatever else a
solver leaves has no part in it. ``judge SEED DRAWS`` reads what was observed there and both copies of the work
folder, as data, and prints the verdict. ``draw SEED`` prints the files and words that a task draws for a trial.
``overlay NAME SEED`` prints an archive of a solution that the oracle keeps. Nothing that a solver wrote is ever
imported or run here.

The oracle is ``checks.json``: ``{"checks": [...], "protected": [globs], "equivalent": {MUTANT: reason}}``; the last
names mutants of the gold, as the check of a puzzle prints them, that nothing can tell from it. Solutions lie in
``gold/``, ``wrong/NAME/`` and ``right/NAME/``; ``edits.json`` tells others by what in them is not as in the gold:
``{"wrong/NAME": {path: {old text: new text}}}``. A check has
``name``, ``kind``, maybe ``role`` (``task`` or ``quality``) and ``weight``, and by kind:

    call   target "module:function" (or the driver's own ":program", ":tests", ":sealed"), cases [{args, kwargs,
           expect | raises, within, args_after}], compare (equal, close, unordered), put {path: text}; with [path]:
           files of oracle/with/ laid beside the work copy, or the sealed tests; drawn: how many cases the function
           ``by`` of reference.py yields
    run    argv, stdin, put {path: text}, seconds, expect {exit, stdout, stdout_matches, stderr_matches, files,
           absent, ended}
    file   path, and one of equals, matches, lacks, absent, json, sha256, most_lines, by
    same   paths (globs) that must be as in the untouched puzzle

``reference.py`` knows right answers by a way of its own. A function named by ``by`` takes a ``random.Random`` and
yields cases without end, as above but with Python values; ``holds`` in place of ``expect`` is a function of the
answer. Types count there, and arguments must be left as they were unless ``args_after`` says otherwise. For a file
``by`` takes its bytes and returns what is wrong with it. With ``draw(random)``, which returns ``{"work": {path:
text}, "prompt": {name: text}, "gold": ..., "wrong/NAME": ..., "right/NAME": ...}``, each of them gets what was
drawn for the trial as its last argument.
"""

# pyright: basic
# It runs alone in the box, under whatever Python is there, on data of any shape; every import costs each attempt.

from __future__ import annotations

import base64
import hashlib
import io
import json
import math
import os
import re
import signal
import sys
import tarfile

# Beside this program, in a box in which nobody else has written anything.
sys.path.insert(0, "/tmp")

import answers
from draws import ORACLE, BadOracle, Draw
from work_copy import Copy, Declared, differs, matches_any, packed

_KINDS = ("call", "run", "file", "same")
_EXPECTATIONS = {"exit", "stdout", "stdout_matches", "stderr_matches", "files", "absent", "ended"}
_MOST_DETAIL = 300
_CHECK_S = 10


def main():
    """Do what the first argument says; a fault of the oracle is an answer, not a traceback."""
    try:
        ways = {"plan": plan, "declared": declared, "judge": judge, "overlay": overlay, "draw": draw}
        ways["admission"] = admission
        answer = ways[sys.argv[1]]()
    except BadOracle as fault:
        answer = {"bad_oracle": str(fault)}
    json.dump(answer, sys.stdout)


def load():
    """Return the checks, each known to be well formed."""
    try:
        with open(os.path.join(ORACLE, "checks.json"), encoding="utf-8") as file:
            oracle = json.load(file)
    except FileNotFoundError:
        raise BadOracle("checks.json is missing")
    except (OSError, ValueError) as fault:
        raise BadOracle("checks.json cannot be read: %s" % fault)
    if not isinstance(oracle, dict) or set(oracle) - {"checks", "protected", "equivalent"}:
        raise BadOracle("checks.json is an object with checks, protected and equivalent")
    checks = oracle.get("checks")
    if not isinstance(checks, list) or not checks:
        raise BadOracle("there are no checks")
    names = [check.get("name") for check in checks if isinstance(check, dict)]
    if len(names) != len(checks) or not all(isinstance(name, str) and name for name in names):
        raise BadOracle("every check is an object with a name")
    if len(set(names)) != len(names):
        raise BadOracle("two checks have the same name")
    for check in checks:
        inspect(check)
    equivalent = oracle.get("equivalent", {})
    if not isinstance(equivalent, dict) or not all(isinstance(why, str) and why for why in equivalent.values()):
        raise BadOracle("equivalent is an object that gives a reason for each mutant")
    return checks, oracle.get("protected", []), equivalent


def inspect(check):
    """Refuse a check that checks nothing."""
    where = "check %r: " % check["name"]
    if check.get("kind") not in _KINDS:
        raise BadOracle(where + "its kind is one of " + ", ".join(_KINDS))
    if check.get("role", "task") not in ("task", "quality"):
        raise BadOracle(where + "its role is task or quality")
    drawn = check.get("drawn", 0) > 0 and check.get("by")
    if check["kind"] == "call" and not ((check.get("cases") or drawn) and ":" in check.get("target", "")):
        raise BadOracle(where + "a call has a target module:function and cases")
    if check["kind"] == "call" and not all(set(case) & {"expect", "raises"} for case in check.get("cases", [])):
        raise BadOracle(where + "every case expects something")
    if check["kind"] == "run":
        expect = check.get("expect")
        if not check.get("argv") or not isinstance(expect, dict) or not expect or set(expect) - _EXPECTATIONS:
            raise BadOracle(where + "a run has argv and expects one of " + ", ".join(sorted(_EXPECTATIONS)))
    if check["kind"] == "file" and not ("path" in check and len(set(check) & set(FILE_TESTS)) == 1):
        raise BadOracle(where + "a file has a path and one of " + ", ".join(FILE_TESTS))
    if check["kind"] == "same" and not check.get("paths"):
        raise BadOracle(where + "paths are missing")


def plan():
    """Return what is to be run, without what is expected of it."""
    checks, _, _ = load()
    draws = Draw(sys.argv[2], int(sys.argv[3]))
    steps = []
    for check in checks:
        put = {**check.get("put", {}), **{path: beside(path) for path in check.get("with", [])}}
        # More inputs than a check asks for take as much longer.
        seconds = float(check.get("seconds", 10)) * max(1.0, draws.count / check.get("drawn", math.inf))
        step = {"name": check["name"], "seconds": min(seconds, 3600.0), "put": put}
        if check["kind"] == "call":
            module, function = check["target"].split(":", 1)
            cases = [[repr(case.get("args", [])), repr(case.get("kwargs", {}))] for case in draws.cases(check)]
            step.update(call={"module": module, "function": function, "cases": cases})
        elif check["kind"] == "run":
            step.update(argv=check["argv"], stdin=check.get("stdin", ""), take=sorted(wanted(check["expect"])))
        else:
            continue
        steps.append(step)
    return {"steps": steps, "oracle_digest": digest(), "overlays": overlays(draws)}


def admission():
    """Return what trying the checks themselves needs to know: it holds lines of the gold."""
    checks, _, equivalent = load()
    draws = Draw(sys.argv[2])
    drawn = sum("drawn" in check and draws.goes_on(check) for check in checks)
    return {"drawn": drawn, "equivalent": equivalent}


def beside(path):
    """Return the text of a file that is laid beside the work copy."""
    try:
        with open(os.path.join(ORACLE, "with", path), encoding="utf-8") as file:
            return file.read()
    except (OSError, ValueError) as fault:
        raise BadOracle("with/%s cannot be read: %s" % (path, fault))


def draw():
    """Return the files and the words of the prompt that are drawn for a trial."""
    drawn = (Draw(sys.argv[2]).drawn or ({},))[0]
    return {"work": drawn.get("work", {}), "prompt": drawn.get("prompt", {})}


def declared():
    """Return the untouched puzzle with the changes that it declares; an empty text where there are none."""
    seen = json.load(sys.stdin)
    left = Declared(Copy(seen["before"]), Copy(seen["after"]), seen["editable"], load()[1], seen["installed"])
    return {"copy": packed(left) if left.applied else ""}


def wanted(expect):
    """Return the files to be looked at after a run."""
    return set(expect.get("files", {})) | set(expect.get("absent", []))


def digest():
    """Return SHA-256 over names and contents of the oracle's folder."""
    total = hashlib.sha256()
    for folder, folders, files in os.walk(ORACLE):
        folders[:] = sorted(name for name in folders if name != "__pycache__")
        for name in sorted(files):
            path = os.path.join(folder, name)
            with open(path, "rb") as file:
                content = hashlib.sha256(file.read()).hexdigest()
            total.update(("%s\0%s\n" % (os.path.relpath(path, ORACLE), content)).encode())
    return total.hexdigest()


def overlays(draws):
    """Return the names of the solutions the oracle keeps: gold, wrong/NAME and right/NAME."""
    names = {name for drawn in draws.drawn for name in drawn} | set(edits())
    names = {name for name in names if name == "gold" or name.startswith(("wrong/", "right/"))}
    names |= {"gold"} if os.path.isdir(os.path.join(ORACLE, "gold")) else set()
    for kind in ("wrong", "right"):
        folder = os.path.join(ORACLE, kind)
        names |= {kind + "/" + name for name in (os.listdir(folder) if os.path.isdir(folder) else ())}
    return sorted(names - {"right/__pycache__"})


def overlay():
    """Return one solution of the oracle as an archive."""
    name = sys.argv[2]
    files = edited(kept("gold"), edits()[name]) if name in edits() else kept(name)
    for drawn in Draw(sys.argv[3]).drawn:
        files.update({path: (content.encode(), False) for path, content in drawn.get(name, {}).items()})
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        for path, (data, executable) in sorted(files.items()):
            add(archive, path, data, executable)
    return {"archive": base64.b64encode(out.getvalue()).decode()}


def kept(name):
    """Return the files of a solution that has a folder, each with whether it is a program."""
    root, files = os.path.join(ORACLE, name), {}
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(name for name in folders if name != "__pycache__")
        for each in names:
            path = os.path.join(folder, each)
            with open(path, "rb") as file:
                files[os.path.relpath(path, root)] = file.read(), os.access(path, os.X_OK)
    return files


def edits():
    """Return the solutions that are told by what is other in them than in the gold."""
    try:
        with open(os.path.join(ORACLE, "edits.json"), encoding="utf-8") as file:
            told = json.load(file)
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as fault:
        raise BadOracle("edits.json cannot be read: %s" % fault)
    if not isinstance(told, dict):
        raise BadOracle("edits.json is an object of solutions")
    return told


def edited(files, changes):
    """Return the gold's files with one text in place of another; each must stand there exactly once."""
    for path, texts in changes.items():
        data, executable = files.get(path, (b"", False))
        for old, new in texts.items():
            if data.count(old.encode()) != 1:
                raise BadOracle("edits.json: %r does not stand once in %s of the gold" % (old, path))
            data = data.replace(old.encode(), new.encode())
        files[path] = data, executable
    return files


def add(archive, name, data, executable):
    """Put a file into an archive."""
    entry = tarfile.TarInfo(name)
    entry.size, entry.mode = len(data), 0o755 if executable else 0o644
    archive.addfile(entry, io.BytesIO(data))


def judge():
    """Return the verdict over the untouched puzzle and the solver's copy."""
    seen = json.load(sys.stdin)
    checks, protected, _ = load()
    draws = Draw(sys.argv[2], int(sys.argv[3]))
    before, left = (Copy(seen[name]) for name in ("before", "after"))
    after = Declared(before, left, seen["editable"], protected, seen["installed"])
    outcomes = []
    for check in checks:
        was, _ = evaluate(check, before, before, draws)
        now, detail = evaluate(check, after, before, draws)
        role, weight = check.get("role", "task"), float(check.get("weight", 1))
        outcome = {"name": check["name"], "role": role, "weight": weight, "before": was, "after": now}
        outcomes.append({**outcome, "detail": detail[:_MOST_DETAIL]})
    total = sum(outcome["weight"] for outcome in outcomes)
    good = sum(outcome["weight"] for outcome in outcomes if outcome["after"])
    strict = seen.get("leftovers") == "refused"
    return {
        "checks": outcomes,
        "adversarial": after.adversarial,
        "undeclared": after.undeclared + (after.leftovers if strict else []),
        "leftovers": [] if strict else after.leftovers,
        "quality": good / total if total else math.nan,
        "oracle_digest": digest(),
    }


_UNREADABLE = (ValueError, TypeError, KeyError, IndexError, SyntaxError, RecursionError, MemoryError)


class TookTooLong(Exception):
    """A check did not end."""


def give_up(*_):
    """End the check that runs."""
    raise TookTooLong


def evaluate(check, copy, untouched, draws):
    """Tell whether a check holds for a copy, and why not."""
    # A pattern may take for ever on what a solver wrote; that is its failure, not that of the grading.
    signal.signal(signal.SIGALRM, give_up)
    signal.alarm(_CHECK_S + max(draws.count, 0) // 50)
    try:
        if check["kind"] == "same":
            names = [n for n in untouched.files if matches_any(n, check["paths"])]
            changed = [n for n in names if differs(n, untouched, copy)]
            return not changed, "changed: " + ", ".join(changed) if changed else ""
        if check["kind"] == "file":
            return on_file(check, copy, draws)
        observed = copy.observed.get(check["name"])
        if observed is None:
            return False, "it was not observed"
        return on_call(check, observed, draws) if check["kind"] == "call" else on_run(check, observed)
    except (*_UNREADABLE, TookTooLong) as fault:
        return False, "not readable: %s" % type(fault).__name__
    finally:
        signal.alarm(0)


def on_file(check, copy, draws):
    """Check a file as data."""
    data = copy.files.get(check["path"])
    if "absent" in check:
        return (data is None) == bool(check["absent"]), "present" if data is not None else "absent"
    if data is None:
        return False, "the file is missing"
    if "by" in check:
        wrong = draws.function(check)(data, *draws.drawn)
        return not wrong, str(wrong or "")
    name = next(name for name in FILE_TESTS if name in check)
    good = FILE_TESTS[name](data, check[name])
    return good, "" if good else "the file is not as it should be (%s)" % name


def text(data):
    return data.decode("utf-8", "strict")


FILE_TESTS = {
    "equals": lambda data, value: data == value.encode(),
    "matches": lambda data, value: re.search(value, text(data), re.M) is not None,
    "lacks": lambda data, value: re.search(value, text(data), re.M) is None,
    "json": lambda data, value: answers.alike(json.loads(data), value, "equal"),
    "sha256": lambda data, value: hashlib.sha256(data).hexdigest() == value,
    "most_lines": lambda data, value: len(data.splitlines()) <= value,
    "absent": lambda data, value: value is False,
    "by": None,
}


def on_call(check, observed, draws):
    """Check one line of output for each case."""
    lines = observed["stdout"].splitlines()
    for number, case in enumerate(draws.cases(check)):
        if number >= len(lines):
            return False, "case %d gave no answer (exit %s%s) %s" % (
                number + 1,
                observed["exit"],
                ", ended by " + observed["ended"] if observed["ended"] else "",
                observed["stderr"][-160:],
            )
        fault = answers.on_case(case, json.loads(lines[number]), check.get("compare", "equal"))
        if fault:
            return False, "case %d %s" % (number + 1, fault)
    return True, ""


def on_run(check, observed):
    """Check a program's exit, words and files."""
    expect = check["expect"]
    if observed["ended"] != expect.get("ended", ""):
        return False, "it was ended by its limit of " + observed["ended"]
    if "exit" in expect and observed["exit"] != expect["exit"]:
        return False, "exit %s: %s" % (observed["exit"], observed["stderr"][-200:])
    if "stdout" in expect and observed["stdout"] != expect["stdout"]:
        return False, "it printed something else"
    for name in ("stdout", "stderr"):
        pattern = expect.get(name + "_matches")
        if pattern is not None and re.search(pattern, observed[name], re.M) is None:
            return False, "its %s does not match" % name
    for path, content in expect.get("files", {}).items():
        if observed["files"].get(path) != base64.b64encode(content.encode()).decode():
            return False, "%s is not as it should be" % path
    for path in expect.get("absent", []):
        if observed["files"].get(path) is not None:
            return False, "%s is still there" % path
    return True, ""


if __name__ == "__main__":
    main()
