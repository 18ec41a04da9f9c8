"""The states of a change as folders, made once, and a run in a box that sees one of them in the checkout's place."""

from __future__ import annotations

import asyncio
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from importlib import resources
from pathlib import Path
from typing import Self

from crucible.proving.adapters import Child
from crucible.proving.change import Change, Repository
from crucible.proving.records import Ask, Ran
from llm_runtime.errors import ConfigurationError
from sandbox import BoxLimits, Order, Root, backend, run
from sandbox.backends import LAUNCHER
from sandbox.filter import confining

_PROBE = "/run/assay/assay_probe.py"
_AT_ONCE = 2
_LIMITS = BoxLimits(
    processes=256, memory=2 << 30, address_space=1 << 46, disk=512 << 20, open_files=1024, output=8 << 20,
    inodes=100_000,
)  # fmt: skip
#: Folders that hold what was installed or built, shown as they are; ignored files that a build made, copied.
_INSTALLED = {".venv", "venv", "env", "node_modules", "target", "vendor", ".tox", ".nox"}
_MADE, _LARGEST = {".py", ".so", ".js", ".go", ".mo"}, 16 << 20
_PRIVATE = re.compile(r"secret|local|credential|private|(^|/)\.", re.IGNORECASE)
#: Seconds of a whole run beyond those of its tests; what is shown of its output, in bytes.
_STARTING, _SHOWN = 60, 2 << 20
_AROUND = {
    "seed": {"PYTHONHASHSEED": "4242"}, "zone": {"TZ": "Asia/Kathmandu"},
    "home": {"HOME": "/tmp/elsewhere", "USER": "other", "LC_ALL": "C", "LANG": "C"},
}  # fmt: skip


class States:
    """Runs what is asked for. Use it as ``with``; it is a :data:`~crucible.proving.records.Run`.

    Args:
        change: what was read of the checkout.
        at: a folder of it; this one where left out.
        also: more host folders that the tests need to read.
        programs: where programs are found; the caller's PATH where left out.
    """

    def __init__(
        self, change: Change, *, at: Path | None = None, also: Sequence[Path] = (), programs: str = ""
    ) -> None:
        self._change, self._stack = change, ExitStack()
        self._own = Path(self._stack.enter_context(tempfile.TemporaryDirectory(prefix="assay-states-")))
        self._git = Repository(at or Path.cwd(), self._own)
        self.root, self._also = self._git.root, also
        self._path = programs or os.environ.get("PATH", os.defpath)
        self._turn, self._made = asyncio.Semaphore(_AT_ONCE), dict[str, Path]()
        self._answers: dict[str, asyncio.Task[Ran]] = {}
        self._tools: _Tools | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self._stack.close()

    async def __call__(self, ask: Ask) -> Ran:
        """Return what a run in a box answers; the same is asked but once.

        Raises:
            NoIsolation: there is no box here.
            ConfigurationError: the command's program is not here, or the checkout is no longer what was read.
        """
        if ask.key not in self._answers:
            self._answers[ask.key] = asyncio.ensure_future(self._run(ask))
        try:
            return await asyncio.shield(self._answers[ask.key])
        except BaseException:
            self._answers.pop(ask.key).cancel()
            raise

    async def _run(self, ask: Ask) -> Ran:
        async with self._turn:
            by = backend().name
            folder = await asyncio.to_thread(self._laid, ask)
            order, told = self._order(ask, folder)
            try:
                done = await run(order, stdin=json.dumps(told).encode(), apart=True, by=by)
            finally:
                await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)
        try:
            child = Child.model_validate_json(done.stdout)
        except ValueError:
            return Ran(
                key=ask.key, code=done.code, ended=done.ended or "lost", agrees=False, tail=done.text[-4000:]
            )
        return self._change.adapter.read(ask, child, str(self.root))

    def _laid(self, ask: Ask) -> Path:
        """Return a folder of a state with files laid over it; all others are links to one copy."""
        if ask.tree not in self._made:
            self._made[ask.tree] = self._checked_out(ask.tree)
        folder = Path(tempfile.mkdtemp(dir=self._own)) / "state"
        shutil.copytree(self._made[ask.tree], folder, copy_function=os.link, symlinks=True)
        for name, text in ask.files.items():
            place = folder / name
            if not place.resolve().is_relative_to(folder):
                raise ConfigurationError(f"{name}: it leads out of the repository")
            place.unlink(missing_ok=True)
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(text, "utf-8", newline="")
        return folder

    def _checked_out(self, tree: str) -> Path:
        if tree not in (self._change.base, self._change.head):
            raise ConfigurationError(f"{tree}: no state of the change")
        try:
            self._git("cat-file", "-e", f"{tree}^{{tree}}")
        except ConfigurationError:
            if self._git.tree("") != tree:
                raise ConfigurationError("the checkout is no longer what was read; begin again") from None
        folder = self._own / tree
        folder.mkdir()
        self._git("read-tree", tree)
        self._git("checkout-index", "--all", "--force", f"--prefix={folder}/")
        for name in self._beside():
            source, place = self.root / name, folder / name
            if name in self._mounted():
                place.mkdir(parents=True, exist_ok=True)
            elif source.is_dir():
                shutil.copytree(source, place, dirs_exist_ok=True)
            elif not place.exists():
                place.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(source, place)
        return folder

    def _beside(self) -> list[str]:
        """Return what lies in the checkout and not in Git, and is needed: what was installed, what a build made."""
        ignored = self._git("ls-files", "-o", "-i", "--exclude-standard", "--directory", "-z").split("\0")
        parts = [line.split("\t", 1) for line in self._git("ls-files", "-s").splitlines()]
        names = {name.rstrip("/") for name in ignored} | {name for mode, name in parts if mode.startswith("160000")}
        names |= {name for name in _INSTALLED if (self.root / name).is_dir()}
        return sorted(name for name in names if name and self._needed(name, self.root / name))

    def _needed(self, name: str, path: Path) -> bool:
        if path.is_symlink():
            return False
        if path.is_dir():
            return path.name in _INSTALLED or path.name.endswith(("-info")) or (path / ".git").exists()
        return path.suffix in _MADE and not _PRIVATE.search(name) and path.stat().st_size < _LARGEST

    def _mounted(self) -> list[str]:
        return [name for name in self._beside() if (self.root / name).is_dir() and not name.endswith("-info")]

    def _order(self, ask: Ask, folder: Path) -> tuple[Order, dict[str, object]]:
        root, how = str(self.root), self._change.adapter
        tools = self._tools = self._tools or _Tools(self._change.command, how.name, self.root, self._path)
        words = how.words(self._change.command, root, ask)
        environment = {
            "PATH": ":".join([*tools.folders, "/usr/local/bin:/usr/bin:/bin"]), "HOME": "/tmp/home", "TMPDIR": "/tmp",
            "LANG": "C.UTF-8", "TZ": "UTC", "PYTHONHASHSEED": "0", "PYTHONDONTWRITEBYTECODE": "1",
            "PYTHONPATH": f"/run/assay:{root}/src:{root}", "NODE_V8_COVERAGE": "/tmp/cover", "GOCACHE": "/run/gocache",
            "GOMODCACHE": "/run/gomod", "GOPROXY": "off", "GOFLAGS": "-buildvcs=false", "CARGO_TARGET_DIR": "/tmp/target",
            "GOTOOLCHAIN": "local", "CARGO_NET_OFFLINE": "true", **_AROUND.get(ask.around, {}),
        }  # fmt: skip
        if how.name != "node":
            del environment["NODE_V8_COVERAGE"]
        seconds = _STARTING + ask.seconds * (1 if ask.sealed else 12)
        mine = [name for name in ask.files if how.is_test(name)]
        child = {
            "root": root, "watch": ask.watch, "mine": mine, "seconds": ask.seconds, "backwards": ask.around == "seed",
            "tests": how.test if how.name == "pytest" else "",
        }  # fmt: skip
        command = [*tools.program, *words[len(tools.replaced) :]]
        if ask.sealed and how.name in ("pytest", "node"):
            orders = {"filters": [confining().hex()], "limits": {}, "must": True}
            command = [tools.python, "-I", "-S", "-B", LAUNCHER, json.dumps(orders), *command]
        told = {
            "command": command, "environment": environment, "child": child, "seconds": seconds, "most": _SHOWN,
            "cover": how.cover,
        }  # fmt: skip
        mounts = {root: folder, **{f"{root}/{name}": self.root / name for name in self._mounted()}, **tools.mounts}
        order = Order(
            (tools.python, "-B", _PROBE), _LIMITS.model_copy(update={"seconds": seconds + 10}), root, Root(whole=True),
            environment={"PATH": environment["PATH"]}, readable=(*tools.readable, *self._also), mounts=mounts,
            texts={_PROBE: resources.files(__package__).joinpath("probe.py").read_bytes()}, python=tools.python,
        )  # fmt: skip
        return order, told


class _Tools:
    """What a command stands on: its program, and the folders that this needs; of the home nothing else.

    Raises:
        ConfigurationError: the program is not here.
    """

    def __init__(self, command: str, kind: str, root: Path, path: str) -> None:
        first = command.split()[0]
        name = first if "/" not in first or Path(first).is_absolute() else str(root / first)
        self.replaced, found = [first], shutil.which(name, path=path)
        if found is None:
            raise ConfigurationError(f"{first} is not on this machine; it is the program of the tests' command")
        self.mounts: dict[str, Path] = {}
        self.python, self.program = "/usr/bin/python3", [str(Path(found).resolve())]
        places = [Path(found).parent, Path(self.program[0]).parents[1]]
        if kind == "pytest":
            program = Path(found).parent / "python" if "pytest" in first else Path(found)
            if "pytest" in first:
                program = program if program.exists() else Path(sys.executable)
            said = "import sys, json; print(json.dumps([sys.executable, sys.prefix, sys.base_prefix, *sys.path]))"
            where = [str(one) for one in json.loads(_said([str(program), "-c", said], path)) if one]
            self.python, self.program = where[0], [where[0], *(["-m", "pytest"] if "pytest" in first else [])]
            places = [Path(one) for one in where[1:]] + [Path(one).resolve() for one in where[1:3]]
        elif kind == "go":
            for place, variable in (("/run/gocache", "GOCACHE"), ("/run/gomod", "GOMODCACHE")):
                folder = Path(_said([self.program[0], "env", variable], path).strip())
                if folder.is_dir():
                    self.mounts[place] = folder
        home = Path.home()
        self.readable = [
            one for one in dict.fromkeys(places)
            if not (home.is_relative_to(one) or root.is_relative_to(one) or one.is_relative_to(root) or one == Path("/"))
        ]  # fmt: skip
        self.folders = [str(Path(one).parent) for one in (self.program[0], found)]


def _said(command: list[str], path: str) -> str:
    """Return what a program of the caller's says of itself."""
    try:
        done = subprocess.run(
            command,
            capture_output=True,
            timeout=60,
            text=True,
            check=False,
            cwd="/",
            env={**os.environ, "PATH": path},
        )
    except (OSError, subprocess.TimeoutExpired) as fault:
        raise ConfigurationError(f"{command[0]} cannot be run: {type(fault).__name__}") from None
    if done.returncode:
        raise ConfigurationError(f"{command[0]} cannot be run: exit code {done.returncode}")
    return done.stdout
