"""Runs in the grading box, where alone the oracle is mounted: plans the exercises, judges what was seen.

``plan SEED DRAWS`` prints what is to be run in another box, with nothing of what is expected. ``declared`` prints
the copies that it is run on: the untouched puzzle with the changes that the puzzle declares, so that whatever else a
solver leaves has no part in it. ``judge SEED DRAWS`` reads what was observed there and the work folders, untouched
and solvers', as data, and prints a verdict for each; ``judge SEED DRAWS missed`` also all inputs
that they answer otherwise. ``draw SEED`` prints the files and words that a task draws for a trial.
``overlay NAME SEED`` prints an archive of a solution that the oracle keeps. Nothing that a solver wrote is ever
imported or run here.

The oracle is ``checks.json``: ``{"checks": [...], "protected": [globs], "equivalent": {MUTANT: reason}}``; the last
names mutants of the gold, as the check of a puzzle prints them, that nothing can tell from it. Solutions lie in
``gold/``, ``wrong/NAME/`` and ``right/NAME/``; ``edits.json`` tells others by what in them is not as in the gold:
``{"wrong/NAME": {path: {old text: new text}}}``. ``clauses.json`` divides the statement: ``{ID: {"says": words of
the prompt, "wrong": [NAME, ...]}}`` with the wrong solutions that break each clause. A check has
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
import json
import math
import os
import re
import signal
import sys

# Beside this program, in a box in which nobody else has written anything.
sys.path.insert(0, "/tmp")

import answers
from draws import ORACLE, BadOracle, Draw
from work_copy import Copy, Declared, differs, matches_any, packed

_KINDS = ("call", "run", "file", "same")
_EXPECTATIONS = {"exit", "stdout", "stdout_matches", "stderr_matches", "files", "absent", "ended"}
_MOST_DETAIL = 300
_CHECK_S = 10
_PLAIN = 0o644


def main():
    """Do what the first argument says; a fault of the oracle is an answer, not a traceback."""
    try:
        ways = (plan, declared, judge, overlay, draw, admission)
        answer = {way.__name__: way for way in ways}[sys.argv[1]]()
    except BadOracle as fault:
        answer = {"bad_oracle": str(fault)}
    json.dump(answer, sys.stdout)


def load():
    """Return the checks, each known to be well formed."""
    need(os.path.exists(os.path.join(ORACLE, "checks.json")), "checks.json is missing")
    oracle = read("checks.json", json.load)
    known = isinstance(oracle, dict) and not set(oracle) - {"checks", "protected", "equivalent"}
    need(known, "checks.json is an object with checks, protected and equivalent")
    checks = oracle.get("checks", [])
    need(isinstance(checks, list) and checks, "there are no checks")
    names = [check.get("name") if isinstance(check, dict) else None for check in checks]
    need(are_texts(names), "every check is an object with a name")
    need(len(set(names)) == len(names), "two checks have the same name")
    for check in checks:
        inspect(check)
    equivalent = oracle.get("equivalent", {})
    reasoned = isinstance(equivalent, dict) and are_texts(equivalent.values())
    need(reasoned, "equivalent is an object that gives a reason for each mutant")
    return checks, oracle.get("protected", []), equivalent


def need(holds, words):
    """Refuse the oracle where something does not hold."""
    if not holds:
        raise BadOracle(words)


def are_texts(values):
    return all(isinstance(value, str) and value for value in values)


def read(path, how):
    """Return what a file of the oracle holds."""
    try:
        with open(os.path.join(ORACLE, path), encoding="utf-8") as file:
            return how(file)
    except (OSError, ValueError) as fault:
        raise BadOracle("%s cannot be read: %s" % (path, fault))


def inspect(check):
    """Refuse a check that checks nothing."""
    where, kind = "check %r: " % check["name"], check.get("kind")
    need(kind in _KINDS, where + "its kind is one of " + ", ".join(_KINDS))
    need(check.get("role", "task") in ("task", "quality"), where + "its role is task or quality")
    if kind == "call":
        inspect_call(check, where)
    elif kind == "run":
        expect = check.get("expect")
        known = check.get("argv") and isinstance(expect, dict) and expect and not set(expect) - _EXPECTATIONS
        need(known, where + "a run has argv and expects one of " + ", ".join(sorted(_EXPECTATIONS)))
    elif kind == "file":
        one = "path" in check and len(set(check) & set(FILE_TESTS)) == 1
        need(one, where + "a file has a path and one of " + ", ".join(FILE_TESTS))
    else:
        need(check.get("paths"), where + "paths are missing")


def inspect_call(check, where):
    drawn = check.get("drawn", 0) > 0 and check.get("by")
    called = (check.get("cases") or drawn) and ":" in check.get("target", "")
    need(called, where + "a call has a target module:function and cases")
    expects = all(set(case) & {"expect", "raises"} for case in check.get("cases", []))
    need(expects, where + "every case expects something")


def plan():
    """Return what is to be run, without what is expected of it."""
    checks, _, _ = load()
    draws = Draw(sys.argv[2], int(sys.argv[3]))
    steps = []
    for check in checks:
        laid = {path: read("with/" + path, lambda file: file.read()) for path in check.get("with", [])}
        # More inputs than a check asks for take as much longer.
        seconds = float(check.get("seconds", 10)) * max(1.0, draws.count / check.get("drawn", math.inf))
        step = {"name": check["name"], "seconds": min(seconds, 3600.0), "put": {**check.get("put", {}), **laid}}
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
    return {"drawn": drawn, "equivalent": equivalent, "clauses": told("clauses.json")}


def draw():
    """Return the files and the words of the prompt that are drawn for a trial."""
    drawn = (Draw(sys.argv[2]).drawn or ({},))[0]
    return {"work": drawn.get("work", {}), "prompt": drawn.get("prompt", {})}


def declared():
    """Return the untouched puzzle with the changes that it declares, for each copy; an empty text where are none."""
    _, copies = received(load()[1])
    return {"copies": [packed(left.entries()) if left.applied else "" for left in copies]}


def received(protected):
    """Return the untouched puzzle and what counts of each solver's copy."""
    seen = json.load(sys.stdin)
    before, installed = Copy(seen["before"]), seen["installed"]
    copies = (Declared(before, Copy(one), seen["editable"], protected, installed) for one in seen["after"])
    return before, [left.strict(seen["leftovers"] == "refused") for left in copies]


def wanted(expect):
    """Return the files to be looked at after a run."""
    return set(expect.get("files", {})) | set(expect.get("absent", []))


def digest():
    """Return SHA-256 over names and contents of the oracle's folder."""
    total = hashlib.sha256()
    for path, data, _ in below(ORACLE):
        total.update(("%s\0%s\n" % (path, hashlib.sha256(data).hexdigest())).encode())
    return total.hexdigest()


def overlays(draws):
    """Return the names of the solutions the oracle keeps: gold, wrong/NAME and right/NAME."""
    names = {name for drawn in draws.drawn for name in drawn} | set(told("edits.json"))
    names = {name for name in names if name == "gold" or name.startswith(("wrong/", "right/"))}
    names |= {"gold"} if os.path.isdir(os.path.join(ORACLE, "gold")) else set()
    for kind in ("wrong", "right"):
        folder = os.path.join(ORACLE, kind)
        names |= {kind + "/" + name for name in (os.listdir(folder) if os.path.isdir(folder) else ())}
    return sorted(names - {"right/__pycache__"})


def overlay():
    """Return one solution of the oracle as an archive."""
    name = sys.argv[2]
    edits = told("edits.json")
    files = edited(kept("gold"), edits[name]) if name in edits else kept(name)
    for drawn in Draw(sys.argv[3]).drawn:
        files.update({path: (content.encode(), _PLAIN) for path, content in drawn.get(name, {}).items()})
    return {"archive": packed(files)}


def kept(name):
    """Return the files of a solution that has a folder, each with its mode."""
    return {path: (data, mode) for path, data, mode in below(os.path.join(ORACLE, name))}


def below(root):
    """Yield path, content and mode of the files of a folder, in order."""
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(name for name in folders if name != "__pycache__")
        for path in [os.path.join(folder, name) for name in sorted(names)]:
            with open(path, "rb") as file:
                yield os.path.relpath(path, root), file.read(), 0o755 if os.access(path, os.X_OK) else _PLAIN


def told(name):
    """Return what a file of the oracle says by name; nothing where there is no such file."""
    said = read(name, json.load) if os.path.exists(os.path.join(ORACLE, name)) else {}
    need(isinstance(said, dict), name + " is an object")
    return said


def edited(files, changes):
    """Return the gold's files with one text in place of another; each must stand there exactly once."""
    for path, texts in changes.items():
        data, mode = files.get(path, (b"", _PLAIN))
        for old, new in texts.items():
            once = data.count(old.encode()) == 1
            need(once, "edits.json: %r does not stand once in %s of the gold" % (old, path))
            data = data.replace(old.encode(), new.encode())
        files[path] = data, mode
    return files


def judge():
    """Return a verdict for each copy, and where asked the inputs that it misses; a check without cases is one."""
    checks, protected, _ = load()
    draws = Draw(sys.argv[2], int(sys.argv[3]))
    before, copies = received(protected)
    was = [evaluate(check, before, before, draws)[0] for check in checks]
    judged = {"verdicts": [verdict(checks, was, before, after, draws) for after in copies], "missed": []}
    for copy in copies if "missed" in sys.argv else ():
        judged["missed"].append([one for check in checks for one in inputs_missed(check, copy, before, draws)])
    return judged


def inputs_missed(check, copy, before, draws):
    if evaluate(check, copy, before, draws)[0]:
        return []
    called = check["kind"] == "call" and check["name"] in copy.observed
    faults = amiss_in_call(check, copy.observed[check["name"]], draws) if called else [(0, "")]
    try:
        return ["%s, case %d" % (check["name"], number + 1) for number, _ in faults]
    except _UNREADABLE:
        return [check["name"]]


def verdict(checks, was, before, after, draws):
    """Return the verdict over the untouched puzzle and a solver's copy."""
    outcomes = []
    for check, earlier in zip(checks, was):
        now, detail = evaluate(check, after, before, draws)
        role, weight = check.get("role", "task"), float(check.get("weight", 1))
        outcome = {"name": check["name"], "role": role, "weight": weight, "before": earlier, "after": now}
        outcomes.append({**outcome, "detail": detail[:_MOST_DETAIL]})
    total = sum(outcome["weight"] for outcome in outcomes)
    good = sum(outcome["weight"] for outcome in outcomes if outcome["after"])
    return {
        "checks": outcomes,
        "adversarial": after.adversarial,
        "undeclared": after.undeclared,
        "leftovers": after.leftovers,
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
            return on_same(check, copy, untouched)
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


def on_same(check, copy, untouched):
    """Check that files are as in the untouched puzzle."""
    names = [n for n in untouched.files if matches_any(n, check["paths"])]
    changed = [n for n in names if differs(n, untouched, copy)]
    return not changed, "changed: " + ", ".join(changed) if changed else ""


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
    number, fault = next(amiss_in_call(check, observed, draws), (0, ""))
    return not fault, fault and "case %d %s" % (number + 1, fault)


def amiss_in_call(check, observed, draws):
    """Yield the numbers of cases that are not answered as they should be, from 0, and why."""
    lines = observed["stdout"].splitlines()
    for number, case in enumerate(draws.cases(check)):
        if number >= len(lines):
            ended = ", ended by " + observed["ended"] if observed["ended"] else ""
            yield number, "gave no answer (exit %s%s) %s" % (observed["exit"], ended, observed["stderr"][-160:])
        elif fault := answers.on_case(case, json.loads(lines[number]), check.get("compare", "equal")):
            yield number, fault


def on_run(check, observed):
    """Check a program's exit, words and files."""
    fault = next(amiss(check["expect"], observed), "")
    return not fault, fault


def amiss(expect, observed):
    """Yield what is not as a run should leave it."""
    if observed["ended"] != expect.get("ended", ""):
        yield "it was ended by its limit of " + observed["ended"]
    if observed["exit"] != expect.get("exit", observed["exit"]):
        yield "exit %s: %s" % (observed["exit"], observed["stderr"][-200:])
    if observed["stdout"] != expect.get("stdout", observed["stdout"]):
        yield "it printed something else"
    for name in ("stdout", "stderr"):
        if not re.search(expect.get(name + "_matches") or "", observed[name], re.M):
            yield "its %s does not match" % name
    for path, content in expect.get("files", {}).items():
        if observed["files"].get(path) != base64.b64encode(content.encode()).decode():
            yield "%s is not as it should be" % path
    yield from (
        "%s is still there" % path for path in expect.get("absent", []) if observed["files"].get(path) is not None
    )


if __name__ == "__main__":
    main()
