"""Asks the builds of a solution what the checks compare."""

import contextlib
import io
import os
import tempfile
from pathlib import Path

from kiln import TOOLS, Disk, KilnError, ToolError, build
from kiln.__main__ import main
from kiln.rules import rules_of


def odd(text, arguments, read):
    """Return what no tool should, or raise, as the text says."""
    word = text.split()[0] if text.split() else ""
    if word == "bad":
        raise ToolError("bad")
    return {"list": [text], "none": None, "number": 7, "dict": {"x": text}, "name": {"x": text, "X": text}, "stroke": {"a/b": text}, "part": {"x": None}, "empty": {}, "line": {"x\n": text}, "key": {1: text}}.get(word, text)


def links(text, arguments, read):
    """Read what is read first, and what is then named there."""
    found = read(arguments[0]) if arguments else None
    for _ in range(3):
        if found is None or not found.startswith("to "):
            break
        found = read(found[3:].strip())
    return f"{found}+{text}"


def built(steps):
    """What a number of builds did, after files were changed by hand: None deletes; ``versions`` are those of the tools."""
    disk, answers = Disk(), []
    for changes, versions in steps:
        for path, text in changes.items():
            if text is None:
                disk.files.pop(path, None)
            else:
                disk.files[path] = text
        called = []

        def watched(name, function):
            def tool(text, arguments, read):
                called.append([name, text, list(arguments)])
                return function(text, arguments, read)

            return tool

        functions = {**{name: function for name, (_, function) in TOOLS.items()}, "odd": odd, "links": links}
        tools = {name: (versions.get(name, 1), watched(name, function)) for name, function in functions.items()}
        before, sources = disk.read(".kiln"), {path: text for path, text in disk.files.items() if path != ".kiln" and not path.startswith("out/")}
        disk.calls = []
        result = build(disk, tools)
        calls = [[way, path] for way, path in disk.calls if path != ".kiln"]
        told = sorted([["write", path] for path in result.written] + [["delete", path] for path in result.deleted])
        own = [way for way, path in disk.calls if path == ".kiln"]
        out = {path: text for path, text in disk.files.items() if path.startswith("out/")}
        kept = all(disk.files.get(path) == text for path, text in sources.items()) and len(disk.files) == len(sources) + len(out) + 1
        answers.append([result.ran, called, result.failed, result.written, result.deleted, out, sorted(calls) == told, own == (["write"] if disk.read(".kiln") != before else []), kept])
    return answers


def refused(rules):
    """The line of a fault in rules, and whether anything was changed or run."""
    called = []
    disk = Disk({"kiln.txt": rules, "a1": "x", "out/z": "y", ".kiln": "no"})
    tools = {"upper": (1, lambda text, arguments, read: called.append(text) or text)}
    before = dict(disk.files)
    try:
        build(disk, tools)
    except KilnError as fault:
        return ["fault", fault.line, str(fault) == f"line {fault.line}: {fault.reason}", disk.files == before, called]
    return [[disk.read(path) for path in disk.paths() if path.startswith("out/")], called]


def stems(rule, paths):
    return [rules_of(rule, TOOLS)[0].stem(path) for path in paths]


def printed(files, changes, *words):
    """Exit and output of the command line, started twice, and the files in out/ afterwards."""
    answers = []
    with tempfile.TemporaryDirectory() as room:
        for some in (files, changes):
            for path, text in some.items():
                place = Path(room, path)
                place.parent.mkdir(parents=True, exist_ok=True)
                if text is None:
                    place.unlink()
                else:
                    place.write_bytes(text.encode())
            out = io.StringIO()
            with contextlib.redirect_stdout(out), contextlib.redirect_stderr(io.StringIO()):
                code = main([room, *words])
            answers.append([code, out.getvalue()])
        made = {path.relative_to(room).as_posix(): path.read_bytes().decode() for path in Path(room, "out").rglob("*") if path.is_file()}
    return [*answers, made] if not words else answers
