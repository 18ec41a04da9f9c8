"""Runs in the grading box beside the grader: work folders as data, and which of a solver's changes count.

The changes that the puzzle declares count; whatever else was left has no part in the grading and is told.
"""

# pyright: basic
# It runs alone in the box, under whatever Python is there; every import costs each attempt.

from __future__ import annotations

import base64
import fnmatch
import io
import sys
import tarfile

# Imported or read unasked, from the folder in which a program or a test runner is started.
_STEERING = {"sitecustomize", "usercustomize", "conftest"}
_STANDARD = _STEERING | set(getattr(sys, "stdlib_module_names", sys.builtin_module_names))
_IMPORTED = (".py", ".pyc", ".so")


class Copy:
    """A work folder as data, and what its exercises showed."""

    def __init__(self, seen):
        self.observed = seen.get("observed", {})
        self.files, self.modes, self.links = {}, {}, []
        with tarfile.open(fileobj=io.BytesIO(base64.b64decode(seen["archive"])), mode="r:") as archive:
            for entry in archive:
                if entry.isreg():
                    self.files[entry.name] = archive.extractfile(entry).read()  # pyright: ignore[reportOptionalMemberAccess]
                    self.modes[entry.name] = entry.mode
                elif entry.issym():
                    self.links.append(entry.name)


class Declared:
    """The untouched puzzle with the declared changes of a work copy, and what is said of the others."""

    def __init__(self, untouched, work, editable, protected, installed=()):
        self.observed, self.applied = work.observed, False
        self.files, self.modes = dict(untouched.files), dict(untouched.modes)
        self.adversarial = ["link " + name for name in work.links if name in untouched.files]
        self.undeclared = []
        self.leftovers = ["link " + name for name in work.links if name not in untouched.files]
        firm = [n for n in untouched.files if matches_any(n, protected) or not matches_any(n, editable)]
        for name in sorted(set(untouched.files) | set(work.files)):
            if cache(name) or not differs(name, untouched, work):
                continue
            known, declared = name in untouched.files, matches_any(name, editable)
            if name.endswith((".pyc", ".pyo")):
                self.leftovers.append(("changed " if known else "added ") + name)
            elif matches_any(name, protected):
                self.adversarial.append("changed " + name)
            elif known and not declared:
                self.undeclared.append("changed " + name)
            elif not declared or (
                not known and name not in editable and shadows(name, untouched, work, firm, installed)
            ):
                self.leftovers.append("added " + name)
            else:
                self.apply(name, work)

    def apply(self, name, work):
        """Take one file as the solver left it."""
        self.applied = True
        if name in work.files:
            self.files[name], self.modes[name] = work.files[name], work.modes[name]
        else:
            del self.files[name], self.modes[name]

    def strict(self, refused):
        """Return it, with leftovers counted as changes where they are refused."""
        if refused:
            self.undeclared, self.leftovers = self.undeclared + self.leftovers, []
        return self

    def entries(self):
        """Return content and mode of each file."""
        return {name: (data, self.modes[name]) for name, data in self.files.items()}


def shadows(name, untouched, work, firm, installed):
    """Tell whether an added file would be imported in place of a module that is not the solver's to change."""
    parts = name.split("/")
    places = [(len(parts) - 1, module_name(parts[-1]))] if parts[-1].endswith(_IMPORTED) else []
    for depth in range(len(parts) - 1):
        folder = "/".join(parts[: depth + 1]) + "/"
        # A folder without __init__ gives way to every module of its name.
        made = any(n.startswith(folder + "__init__.") for n in work.files)
        if made and not any(n.startswith(folder) for n in untouched.files):
            places.append((depth, parts[depth]))
    for depth, module in places:
        folder = "".join(part + "/" for part in parts[:depth])
        packaged = any(n.startswith(folder + "__init__.") for n in work.files)
        if (module in _STANDARD or module in installed) and not packaged:
            return True
        if any(n.startswith(folder) and module_name(n[len(folder) :].split("/")[0]) == module for n in firm):
            return True
    return False


def module_name(file):
    """Return the name by which a file or folder is imported."""
    return file.split(".")[0]


def packed(files):
    """Return contents and modes of files as an archive."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for name, (data, mode) in sorted(files.items()):
            entry = tarfile.TarInfo(name)
            entry.size, entry.mode = len(data), mode
            archive.addfile(entry, io.BytesIO(data))
    return base64.b64encode(out.getvalue()).decode()


def cache(name: str) -> bool:
    """Tell whether interpreters and test runners leave such a file behind by themselves."""
    return bool({"__pycache__", ".pytest_cache"} & set(name.split("/")[:-1]))


def matches_any(name, patterns):
    return any(fnmatch.fnmatch(name, pattern) for pattern in patterns)


def differs(name, before, after):
    return before.files.get(name) != after.files.get(name)
