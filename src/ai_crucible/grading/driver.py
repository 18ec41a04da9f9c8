"""Runs in a box without the oracle: calls functions of a work copy and prints what they return, as literals.

It reads ``{"module", "function", "cases": [[args, kwargs], ...]}`` from stdin, arguments as literals. What is
tested may print or exit or lie as it likes: it does not know what is expected. Without a module the function is one
of here: ``program`` runs a command in a copy of the folder, ``tests`` runs test files beside what they test, ``sealed``
runs them over a pipe from it.
"""

# pyright: basic
# It runs alone in the box, under whatever Python is there, on data of any shape; every import costs each attempt.

import importlib
import json
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ORDER = {}
_LITERAL = (type(None), bool, int, float, complex, str, bytes)
_MADE = {set: set, frozenset: set, tuple: tuple, list: list}


def beside(name):
    """Return a module that was laid beside this program."""
    sys.path.insert(0, HERE)
    try:
        return importlib.import_module(name)
    finally:
        sys.path.remove(HERE)


def plain(value, depth=0):
    """Return a value whose repr is a literal; iterators become lists, what has no literal its type's name."""
    if depth > 20:
        return "<too deep>"
    if isinstance(value, _LITERAL):
        return value
    if isinstance(value, dict):
        return {plain(key, depth + 1): plain(item, depth + 1) for key, item in value.items()}
    for kind, made in _MADE.items():
        if isinstance(value, kind):
            return made(plain(item, depth + 1) for item in value)
    if hasattr(value, "__next__"):
        return [plain(item, depth + 1) for item, _ in zip(value, range(10000))]
    return "<%s>" % type(value).__name__


def program(argv, put=None, stdin="", seconds=5, env=None):
    """Run a command in a copy of the folder; return its exit, its words and the paths that it changed.

    ``put`` lays files first: text or bytes, ``None`` for a folder, ``["link", target]`` for a link. By
    the clock it may take eight times its ``seconds``.
    """
    import shutil
    import subprocess
    import tempfile

    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as room:
        copy = os.path.join(room, "copy")
        shutil.copytree(os.getcwd(), copy, symlinks=True, ignore=shutil.ignore_patterns("__pycache__"))
        for name, content in (put or {}).items():
            lay(os.path.join(copy, name), content)
        before = tree(copy)
        words = stdin if isinstance(stdin, bytes) else stdin.encode()
        try:
            # What it may use of a processor is the exercise's; a loaded machine is no fault of it.
            wide, around = 8 * seconds, {**os.environ, **(env or {})}
            done = subprocess.run(argv, cwd=copy, input=words, capture_output=True, timeout=wide, env=around)
            code, out, err = done.returncode, done.stdout, done.stderr
        except subprocess.TimeoutExpired:
            code, out, err = "time", b"", b""
        after = tree(copy)
    names = sorted(name for name in set(before) | set(after) if before.get(name) != after.get(name))
    changed = {name: after.get(name) for name in names if "__pycache__" not in name}
    return {"exit": code, "stdout": words_of(out), "complains": bool(err), "changed": changed}


def lay(path, content):
    if content is None:
        os.makedirs(path, exist_ok=True)
        return
    os.makedirs(os.path.dirname(path), exist_ok=True)
    if isinstance(content, (list, tuple)):
        os.symlink(content[1], path)
        return
    with open(path, "wb") as file:
        file.write(content if isinstance(content, bytes) else content.encode())


def tree(root):
    seen = {}
    for folder, folders, files in os.walk(root):
        for name in folders + files:
            path = os.path.join(folder, name)
            short = os.path.relpath(path, root)
            if os.path.islink(path):
                seen[short] = "-> " + os.readlink(path)
            elif os.path.isdir(path):
                seen[short + "/"] = ""
            else:
                with open(path, "rb") as file:
                    seen[short] = words_of(file.read())
    return seen


def words_of(data):
    try:
        return data.decode()
    except UnicodeDecodeError:
        return data


def tests(*names):
    """Run test files or single tests; return what came of each."""
    return beside("suite").run(names)


def sealed(*names, asks=None):
    """Run tests that reach what they test over a pipe; return what came of each."""
    return beside("sealed").tests(beside("suite"), names, ORDER["own"], asks)


def main():
    """Answer one line a case: ``[how, literal, literal of the arguments afterwards]``.

    ``how`` is ``ok``, or ``raised`` with the names of the exception's classes for the literal.
    """
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    value = beside("answers").value
    order = json.loads(sys.stdin.read())
    ORDER.update(order)
    quiet = os.open(os.devnull, os.O_RDWR)
    os.dup2(quiet, 0)
    os.dup2(quiet, 1)
    sys.path.insert(0, os.getcwd())
    # Tests are no solver's, and are run again and again in one box.
    sys.dont_write_bytecode = order["function"] != "sealed"
    sys.setrecursionlimit(2000)
    target = importlib.import_module(order["module"]) if order["module"] else sys.modules["__main__"]
    for name in order["function"].split("."):
        target = getattr(target, name)
    for texts in order["cases"]:
        args, kwargs = map(value, texts)
        try:
            result = plain(target(*args, **kwargs))  # pyright: ignore[reportCallIssue]
            answer = ["ok", repr(result), repr(plain(args))]
        except Exception as fault:
            answer = ["raised", [kind.__name__ for kind in type(fault).__mro__], repr(plain(args))]
        out.write(json.dumps(answer) + "\n")
        out.flush()
    out.close()
    os._exit(0)


main()
