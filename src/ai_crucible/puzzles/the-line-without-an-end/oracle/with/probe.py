"""Asks the patches of a solution what the checks compare."""

import contextlib
import io
import os
import tempfile

from patchwork import Conflict, PatchError, apply_hunks, read_patch, turned
from patchwork.__main__ import main


def patched(text, diff, back=False):
    """A text after a patch of one file, or why there is none."""
    try:
        files = read_patch(diff)
        if back:
            files = turned(files)
        return apply_hunks(files[0].hunks if files else [], text)
    except Conflict as fault:
        return ["conflict", fault.number]
    except PatchError as fault:
        return ["fault", fault.line]


def told(text, diff):
    """What is wrong with a patch, in words; empty where nothing is."""
    try:
        for one in read_patch(diff):
            apply_hunks(one.hunks, text)
    except (Conflict, PatchError) as fault:
        return str(fault)
    return ""


def folder(before, diff, *words):
    """Exit and output of the command line, and the files afterwards."""
    with tempfile.TemporaryDirectory() as room:
        for name, text in before.items():
            path = os.path.join(room, "in", name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "wb") as file:
                file.write(text.encode())
        patch = os.path.join(room, "p")
        with open(patch, "wb") as file:
            file.write(diff.encode())
        out = io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(io.StringIO()):
            code = main([patch, "-C", os.path.join(room, "in"), *words])
        after = {}
        for path, _, names in os.walk(os.path.join(room, "in")):
            for name in names:
                with open(os.path.join(path, name), "rb") as file:
                    after[os.path.relpath(os.path.join(path, name), os.path.join(room, "in"))] = file.read().decode()
    return [code, out.getvalue(), after]


def again(text, diff):
    """A text after a patch, once more, taken back, and once more; the patch stays as it was read."""
    files = read_patch(diff)
    hunks = tuple(files[0].hunks) if files else ()
    once, twice = apply_hunks(hunks, text), apply_hunks(list(hunks), text)
    back = apply_hunks(turned(files)[0].hunks if files else [], once)
    if files != read_patch(diff):
        return "the patch has changed"
    return [once, twice, back, apply_hunks(turned(turned(files))[0].hunks if files else [], text)]


def room(before, diff, *words):
    """As ``folder``, and whether nothing else is there: no folder after a fault, and nothing beside the folder."""
    with tempfile.TemporaryDirectory() as place:
        inside, patch = os.path.join(place, "in"), os.path.join(place, "p")
        os.mkdir(inside)
        for name, text in before.items():
            path = os.path.join(inside, name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "wb") as file:
                file.write(text.encode())
            os.chmod(path, 0o750)
        with open(patch, "wb") as file:
            file.write(diff.encode())
        folders = sorted(path for path, _, _ in os.walk(inside))
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = main([patch, "-C", inside, *words])
        after, good = {}, sorted(os.listdir(place)) == ["in", "p"] and (code == 0) == (err.getvalue() == "")
        for path, _, names in os.walk(inside):
            for name in names:
                own = os.path.join(path, name)
                with open(own, "rb") as file:
                    after[os.path.relpath(own, inside)] = file.read().decode()
        if code:
            good = good and folders == sorted(path for path, _, _ in os.walk(inside)) and err.getvalue().startswith(patch + ": ")
            good = good and all(os.stat(os.path.join(inside, name)).st_mode & 0o777 == 0o750 for name in before if name in after)
    return [code, out.getvalue(), after, good]
