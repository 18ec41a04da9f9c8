"""The machine that a test sees: Python, git, a shell and the core utilities, an empty home, and what a mark adds.

So a test that needs more and does not say so is red on every machine, and not only on the barest.
"""

from __future__ import annotations

import logging
import os
import shlex
import shutil
import sys
import tempfile
import time
from contextlib import suppress
from functools import cached_property
from pathlib import Path

import pytest

#: What every test finds on its PATH, beside Python.
BASE = """sh git basename cat chmod cp cut date dirname echo env expr false grep head id ln ls mkdir mkfifo mktemp
mv printf pwd readlink rm rmdir sed seq sleep sort stat tail tee test touch tr true uname uniq wc yes"""
#: Variables of the caller's that stay: where the code under test is, and what the interpreter and pytest live by.
KEPT = ("PYTHONPATH", "LD_LIBRARY_PATH", "TMPDIR", "PYTEST_VERSION", "PYTEST_XDIST_", "COV_", "COVERAGE_")
#: Variables that have one value on all machines. A bare one has no sandbox; who runs the tests on it wants the code
#: run that they bring along.
FIXED = {"LC_ALL": "C.UTF-8", "TZ": "UTC", "ASSAY_SANDBOX": "none"}

#: The programs that a mark stands for, as `needs` names them.
NEEDS = {"browser": ("chromium",), "ray": ("bash",)}
#: What isolates, where it is here, with its programs; a test that is marked with a box is run in each of them.
SANDBOXES = {"bubblewrap": ("bwrap",), "podman": ("podman", "newuidmap", "newgidmap"), "docker": ("docker",)}
#: The caller's variables that say where container engines are.
ENGINES = ("DOCKER_", "CONTAINER", "XDG_RUNTIME_DIR", "ASSAY_SANDBOX_IMAGE")
#: What stands on the PATH of a test of languages, where it is here: the test itself skips for want of its own.
TOOLS = """cc gcc g++ c++ as ld ar cmake ctest make go gofmt cargo cargo-clippy clippy-driver rustc javac java jar
node npm npx"""
#: The caller's variables that say where these tools are, and where they get packages from.
TOLD = ("CARGO_", "RUSTUP_", "CRITICALITY_", "NODE_", "NPM_CONFIG_", "npm_config_", "PIP_", "SSL_", "HTTPS_")
#: Where they are below the caller's home, if the caller does not say.
AT_HOME = {
    "CARGO_HOME": ".cargo",
    "RUSTUP_HOME": ".rustup",
    "NPM_CONFIG_USERCONFIG": ".npmrc",
    "CRITICALITY_CACHE": ".cache/assay/toolchains",
}


class Machine:
    """The bare machine of one session of tests, in a folder of its own until :meth:`leave`."""

    def __init__(self) -> None:
        self._caller = dict(os.environ)
        self._folder = Path(tempfile.mkdtemp(prefix="assay-machine-"))
        self._home = self._folder / "home"
        self._home.mkdir()
        base = self._folder / "base"
        base.mkdir()
        for name in BASE.split():
            self._link(name, base)
        if missing := [name for name in ("sh", "git") if not (base / name).exists()]:
            pytest.exit(f"the tests need {' and '.join(missing)}, which is not on this machine", 2)
        for name in ("python", "python3"):
            # A link would be the interpreter without what is installed in its environment.
            (base / name).write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} "$@"\n')
            (base / name).chmod(0o755)
        kept = {name: value for name, value in self._caller.items() if name.startswith(KEPT)}
        self._bare = {**kept, **FIXED, "PATH": str(base), "HOME": str(self._home)}
        # Inspect AI opens its log once a process, and again where all logs were closed: not below an emptied home.
        self._bare["INSPECT_TRACE_FILE"] = str(self._folder / "inspect.log")

    @cached_property
    def sandboxes(self) -> list[str]:
        """The names of those that are here and answer."""
        from sandbox import NoIsolation, backend

        here: list[str] = []
        before = dict(os.environ)
        os.environ.update(self._engines | {"PATH": self._path})
        try:
            for name in SANDBOXES:
                with suppress(NoIsolation):
                    backend(name).program()
                    here.append(name)
        finally:
            os.environ.clear()
            os.environ.update(before)
        return here

    def enter(self, item: pytest.Item | None = None) -> None:
        """Give the process the environment of a test: nothing of what tests before it left there, or at home."""
        added = self._added(item) if item is not None else {}
        for left in self._home.iterdir():
            shutil.rmtree(left) if left.is_dir() and not left.is_symlink() else left.unlink()
        os.environ.clear()
        os.environ.update(self._bare | added)
        time.tzset()
        log = logging.getLogger()
        for handler in [one for one in log.handlers if not type(one).__module__.startswith("_pytest")]:
            log.removeHandler(handler)
            handler.close()

    def leave(self) -> None:
        """Give the process back to the caller, and remove the folder."""
        os.environ.clear()
        os.environ.update(self._caller)
        shutil.rmtree(self._folder, ignore_errors=True)

    def _added(self, item: pytest.Item) -> dict[str, str]:
        marks = [mark.name for mark in item.iter_markers()]
        needed = [str(name) for mark in item.iter_markers("needs") for name in mark.args]
        needed += [name for mark in marks for name in NEEDS.get(mark, ())]
        if missing := [name for name in needed if shutil.which(name, path=self._path) is None]:
            pytest.skip(f"{' and '.join(missing)} is not on this machine")
        added: dict[str, str] = {}
        boxes: list[str] = []
        if "toolchain" in marks:
            boxes = self.sandboxes
            needed += TOOLS.split()
            added |= {name: str(Path(self._caller.get("HOME", "/"), place)) for name, place in AT_HOME.items()}
            added |= {name: value for name, value in self._caller.items() if name.startswith(TOLD)}
        if "box" in marks:
            one = getattr(getattr(item, "callspec", None), "params", {}).get("in_box")
            boxes = [one] if one else self.sandboxes
            if not self.sandboxes:
                pytest.skip("nothing on this machine isolates: no bubblewrap, podman or docker")
        if boxes:
            needed += [program for box in boxes for program in SANDBOXES[box]]
            added |= self._engines | {"ASSAY_SANDBOX": boxes[0] if len(boxes) == 1 else ""}
        folders = [str(folder) for name in dict.fromkeys(needed) if (folder := self._of(name)) is not None]
        return added | {"PATH": os.pathsep.join([*folders, self._bare["PATH"]])}

    @property
    def _engines(self) -> dict[str, str]:
        return {name: value for name, value in self._caller.items() if name.startswith(ENGINES)}

    @property
    def _path(self) -> str:
        return self._caller.get("PATH", os.defpath)

    def _of(self, name: str) -> Path | None:
        """A folder with the one program in it; ``None`` where this machine has not got it."""
        folder = self._folder / "more" / name
        if not folder.is_dir():
            folder.mkdir(parents=True)
            self._link(name, folder)
        return folder if (folder / name).exists() else None

    def _link(self, name: str, folder: Path) -> None:
        if found := shutil.which(name, path=self._path):
            (folder / name).symlink_to(found)
