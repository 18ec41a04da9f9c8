"""Runs in the grading box, where alone the oracle is mounted: plans the exercises, judges what was seen.

``plan`` prints what is to be run in another box, with nothing of what is expected, and the copy that it is run on:
the untouched puzzle with the changes that the puzzle declares, so that whatever else a solver leaves has no part in
it. ``judge`` reads what was observed there and both copies of the work folder, as data, and prints the verdict.
``overlay NAME`` prints an archive of the gold solution or of a wrong one. Nothing that a solver wrote is ever
imported or run here.

The oracle is ``checks.json``: ``{"checks": [...], "protected": [globs]}``. A check has ``name``, ``kind``, maybe
``role`` (``task`` or ``quality``) and ``weight``, and by kind:

    call   target "module:function", cases [{args, kwargs, expect | raises, args_after}], compare
           (equal, close, unordered), and literal: true where args and expect are Python literals in text
    run    argv, stdin, put {path: text}, seconds, expect {exit, stdout, stdout_matches, stderr_matches, files,
           absent, ended}
    file   path, and one of equals, matches, lacks, absent, json, sha256, most_lines
    same   paths (globs) that must be as in the untouched puzzle
"""

# pyright: basic
# ruff: noqa: PTH112, PTH118, PTH123, PTH208, UP031, B904, B905
# It runs alone in the box, under whatever Python is there, on data of any shape; every import costs each attempt.

from __future__ import annotations

import ast
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

from work_copy import Copy, Declared, differs, matches_any, packed

ORACLE = "/oracle"
_KINDS = ("call", "run", "file", "same")
_EXPECTATIONS = {"exit", "stdout", "stdout_matches", "stderr_matches", "files", "absent", "ended"}
_MOST_DETAIL = 300
_CHECK_S = 10


class BadOracle(Exception):
    """The oracle is not one that can grade."""


def main():
    """Do what the first argument says; a fault of the oracle is an answer, not a traceback."""
    try:
        answer = {"plan": plan, "judge": judge, "overlay": overlay}[sys.argv[1]]()
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
    if not isinstance(oracle, dict) or set(oracle) - {"checks", "protected"}:
        raise BadOracle("checks.json is an object with checks and protected")
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
    return checks, oracle.get("protected", [])


def inspect(check):
    """Refuse a check that checks nothing."""
    where = "check %r: " % check["name"]
    if check.get("kind") not in _KINDS:
        raise BadOracle(where + "its kind is one of " + ", ".join(_KINDS))
    if check.get("role", "task") not in ("task", "quality"):
        raise BadOracle(where + "its role is task or quality")
    if check["kind"] == "call" and not (check.get("cases") and ":" in check.get("target", "")):
        raise BadOracle(where + "a call has a target module:function and cases")
    if check["kind"] == "call" and not all("expect" in case or "raises" in case for case in check["cases"]):
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
    """Return what is to be run, without what is expected of it, and the copy that it is run on."""
    checks, protected = load()
    steps, copy = [], ""
    seen = json.loads(sys.stdin.read() or "{}")
    if seen:
        untouched, work = Copy(seen["before"]), Copy(seen["after"])
        declared = Declared(untouched, work, seen["editable"], protected)
        copy = packed(declared) if declared.applied else ""
    for check in checks:
        step = {"name": check["name"], "seconds": float(check.get("seconds", 10)), "put": check.get("put", {})}
        if check["kind"] == "call":
            module, function = check["target"].split(":", 1)
            order = {"module": module, "function": function, "cases": []}
            literal = check.get("literal", False)
            for case in check["cases"]:
                order["cases"].append([case.get("args", "[]" if literal else []), case.get("kwargs", {})])
            step.update(call=order, literal=literal)
        elif check["kind"] == "run":
            step.update(argv=check["argv"], stdin=check.get("stdin", ""), take=sorted(wanted(check["expect"])))
        else:
            continue
        steps.append(step)
    return {"steps": steps, "oracle_digest": digest(), "overlays": overlays(), "copy": copy}


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


def overlays():
    """Return the names of the solutions the oracle keeps: gold, and wrong/NAME."""
    names = ["gold"] if os.path.isdir(os.path.join(ORACLE, "gold")) else []
    wrong = os.path.join(ORACLE, "wrong")
    return names + (["wrong/" + name for name in sorted(os.listdir(wrong))] if os.path.isdir(wrong) else [])


def overlay():
    """Return one solution of the oracle as an archive."""
    root = os.path.join(ORACLE, sys.argv[2])
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        for folder, folders, files in os.walk(root):
            folders[:] = sorted(name for name in folders if name != "__pycache__")
            for name in sorted(files):
                path = os.path.join(folder, name)
                with open(path, "rb") as file:
                    data = file.read()
                entry = tarfile.TarInfo(os.path.relpath(path, root))
                entry.size, entry.mode = len(data), 0o755 if os.access(path, os.X_OK) else 0o644
                archive.addfile(entry, io.BytesIO(data))
    return {"archive": base64.b64encode(out.getvalue()).decode()}


def judge():
    """Return the verdict over the untouched puzzle and the solver's copy."""
    seen = json.load(sys.stdin)
    checks, protected = load()
    before, left = (Copy(seen[name]) for name in ("before", "after"))
    after = Declared(before, left, seen["editable"], protected)
    outcomes = []
    for check in checks:
        was, _ = evaluate(check, before, before)
        now, detail = evaluate(check, after, before)
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


def evaluate(check, copy, untouched):
    """Tell whether a check holds for a copy, and why not."""
    # A pattern may take for ever on what a solver wrote; that is its failure, not that of the grading.
    signal.signal(signal.SIGALRM, give_up)
    signal.alarm(_CHECK_S)
    try:
        if check["kind"] == "same":
            names = [n for n in untouched.files if matches_any(n, check["paths"])]
            changed = [n for n in names if differs(n, untouched, copy)]
            return not changed, "changed: " + ", ".join(changed) if changed else ""
        if check["kind"] == "file":
            return on_file(check, copy)
        observed = copy.observed.get(check["name"])
        if observed is None:
            return False, "it was not observed"
        return on_call(check, observed) if check["kind"] == "call" else on_run(check, observed)
    except (
        ValueError,
        TypeError,
        KeyError,
        IndexError,
        SyntaxError,
        RecursionError,
        MemoryError,
        TookTooLong,
    ) as fault:
        return False, "not readable: %s" % type(fault).__name__
    finally:
        signal.alarm(0)


def on_file(check, copy):
    """Check a file as data."""
    data = copy.files.get(check["path"])
    if "absent" in check:
        return (data is None) == bool(check["absent"]), "present" if data is not None else "absent"
    if data is None:
        return False, "the file is missing"
    name = next(name for name in FILE_TESTS if name in check)
    good = FILE_TESTS[name](data, check[name])
    return good, "" if good else "the file is not as it should be (%s)" % name


def text(data):
    return data.decode("utf-8", "strict")


FILE_TESTS = {
    "equals": lambda data, value: data == value.encode(),
    "matches": lambda data, value: re.search(value, text(data), re.M) is not None,
    "lacks": lambda data, value: re.search(value, text(data), re.M) is None,
    "json": lambda data, value: alike(json.loads(data), value, "equal"),
    "sha256": lambda data, value: hashlib.sha256(data).hexdigest() == value,
    "most_lines": lambda data, value: len(data.splitlines()) <= value,
    "absent": lambda data, value: value is False,
}


def on_call(check, observed):
    """Check one line of output for each case."""
    lines = observed["stdout"].splitlines()
    literal = check.get("literal", False)
    for number, case in enumerate(check["cases"]):
        if number >= len(lines):
            return False, "case %d gave no answer (exit %s%s) %s" % (
                number + 1,
                observed["exit"],
                ", ended by " + observed["ended"] if observed["ended"] else "",
                observed["stderr"][-160:],
            )
        answer = json.loads(lines[number])
        if "raises" in case:
            if answer[0] != "raised" or case["raises"] not in answer[1]:
                return False, "case %d raised nothing of the kind" % (number + 1)
            continue
        if answer[0] != "ok":
            return False, "case %d raised %s" % (number + 1, answer[1][0])
        expect = ast.literal_eval(case["expect"]) if literal else case["expect"]
        if not alike(value(answer[1]), expect, check.get("compare", "equal"), exact=literal):
            return False, "case %d returned something else" % (number + 1)
        if "args_after" in case and not alike(value(answer[2]), case["args_after"], "equal"):
            return False, "case %d left its arguments otherwise" % (number + 1)
    return True, ""


def value(literal):
    """Return a value from its literal; nothing but literals is understood."""
    if literal in ("inf", "-inf", "nan"):
        return float(literal)
    return ast.literal_eval(literal)


def alike(seen, expected, how, exact=False):
    """Compare with types: True is not 1; a tuple is a list unless literals were asked for."""
    if how == "unordered":
        return isinstance(seen, (list, tuple, set)) and unordered(seen, expected)
    if isinstance(expected, bool) or isinstance(seen, bool):
        return seen is expected
    if isinstance(expected, (int, float)) and isinstance(seen, (int, float)):
        if how == "close":
            return math.isclose(seen, expected, rel_tol=1e-9, abs_tol=1e-9)
        return seen == expected and (not exact or type(seen) is type(expected))
    if isinstance(expected, list) and isinstance(seen, (list,) if exact else (list, tuple)):
        return len(seen) == len(expected) and all(alike(a, b, how, exact) for a, b in zip(seen, expected))
    if isinstance(expected, dict) and isinstance(seen, dict):
        if not exact:
            seen = {str(key): item for key, item in seen.items()}
        return seen.keys() == expected.keys() and all(alike(seen[k], expected[k], how, exact) for k in expected)
    return type(seen) is type(expected) and seen == expected


def unordered(seen, expected):
    """Tell whether the same things are there in any order."""
    left = list(seen)
    for item in expected:
        place = next((i for i, other in enumerate(left) if alike(other, item, "equal")), None)
        if place is None:
            return False
        del left[place]
    return not left


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
