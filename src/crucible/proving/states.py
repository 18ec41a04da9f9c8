"""The states of a change as folders, made once, and runs in a box that sees one in the checkout's place."""

from __future__ import annotations

import asyncio
import json
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from functools import cached_property
from importlib import resources
from pathlib import Path

from pydantic import BaseModel

from crucible.proving.adapters import Child
from crucible.proving.change import ProvenChange, Repository
from crucible.proving.checking import words
from crucible.proving.records import Around, BoxRequest, Ran
from llm_runtime.errors import ConfigurationError
from llm_runtime.toml import own_table
from sandbox import BoxLimits, Order, Root, backend, run
from sandbox.backends import LAUNCHER
from sandbox.filter import confining

_PROBE = "/run/assay/assay_probe.py"
_PRIVATE = re.compile(r"secret|local|credential|private|(^|/)\.", re.IGNORECASE)
#: Seconds of a run beside those of its test; of one of many tests; bytes of its output.
_STARTING, _MANY, _SHOWN = 60, 60, 2 << 20
#: Bytes of a file that is copied.
_LARGEST = 16 << 20
_ITSELF = "import sys, json; print(json.dumps([sys.executable, sys.prefix, sys.base_prefix, *sys.path]))"


class _BoxParts(BaseModel):
    limits: BoxLimits
    environment: dict[str, str]
    around: dict[Around, dict[str, str]]
    installed: set[str]
    made: set[str]


_BOX = _BoxParts.model_validate(own_table("crucible.proving", "box.toml"))


def env_folders(names: Sequence[str], at: Path | None = None) -> dict[Path, Path]:
    """Return folders of this machine that a box shows for reading, by their places.

    Args:
        names: as they were given: what tests need and Git does not have, in the checkout or elsewhere.
        at: a folder of the checkout; this one where left out.

    Raises:
        ConfigurationError: there is no such folder, or it shows more than tests need.
    """
    at, found = (at or Path.cwd()).resolve(), dict[Path, Path]()
    for name in names:
        place = Path(os.path.normpath(at / name))
        found[place] = place.resolve()
        if not place.is_dir():
            raise ConfigurationError(f"--env {name}: there is no such folder")
        if any(one.is_relative_to(place.resolve()) for one in (at, Path.home())):
            raise ConfigurationError(f"--env {name}: it holds more than tests need; name a folder in it")
    return found


class States(AbstractContextManager["States"]):
    """Runs what is asked for. Use it as ``with``; it is a :data:`~crucible.proving.records.Run`.

    Args:
        change: what was read of the checkout.
        at: a folder of it; this one where left out.
        env: folders that the tests need to read besides, as :func:`env_folders` has them.
        programs: where programs are found after the ``bin`` of these; the caller's PATH where left out.
    """

    def __init__(
        self, change: ProvenChange, *, at: Path | None = None, env: Sequence[str] = (), programs: str = ""
    ) -> None:
        self._change, self._env = change, env_folders(env, at)
        found = [str(one / "bin") for one in self._env]
        self._path = os.pathsep.join([*found, programs or os.environ.get("PATH", os.defpath)])
        self._temporary = tempfile.TemporaryDirectory(prefix="assay-states-", ignore_cleanup_errors=True)
        self._own = Path(self._temporary.name)
        self._git = Repository(at or Path.cwd(), self._own)
        self.root, self._turn = self._git.root, asyncio.Semaphore(os.cpu_count() or 2)
        self._given = [str(one.relative_to(self.root)) for one in self._env if one.is_relative_to(self.root)]
        self._answers: dict[str, asyncio.Task[Ran]] = {}

    def __exit__(self, *exc: object) -> None:
        self._temporary.cleanup()

    async def __call__(self, ask: BoxRequest) -> Ran:
        """Return what a run in a box answers; the same is asked but once.

        Raises:
            NoIsolation: there is no box here.
            ConfigurationError: the command's program is not here, or the checkout is no longer what was read.
        """
        if ask.key not in self._answers:
            self._answers[ask.key] = asyncio.ensure_future(self._run(ask))
        return await self._answers[ask.key]

    async def _run(self, ask: BoxRequest) -> Ran:
        by = backend().name
        async with self._turn:
            folder = self._laid(ask)
            order, told = self._order(ask, folder)
            try:
                done = await run(order, stdin=json.dumps(told).encode(), apart=True, by=by)
            finally:
                shutil.rmtree(folder.parent, ignore_errors=True)
        try:
            child = Child.model_validate_json(done.stdout)
        except ValueError:
            return Ran(key=ask.key, code=done.code, ended=done.ended or "lost", agrees=False, tail=done.text[-4000:])
        return self._change.adapter.read(ask, child, str(self.root))

    def _laid(self, ask: BoxRequest) -> Path:
        """Return a folder of a state with files laid over it; all others are links to one copy."""
        state = self._own / ask.tree
        if not state.exists():
            self._check_out(ask.tree, state)
        folder = Path(tempfile.mkdtemp(dir=self._own)) / "state"
        shutil.copytree(state, folder, copy_function=os.link, symlinks=True)
        for name, text in ask.files.items():
            place = folder / name
            if not place.parent.resolve().is_relative_to(folder.resolve()):
                raise ConfigurationError(f"{name}: it leads out of the repository")
            place.parent.mkdir(parents=True, exist_ok=True)
            place.unlink(missing_ok=True)
            place.write_text(text, "utf-8", newline="")
        return folder

    def _check_out(self, tree: str, folder: Path) -> None:
        if tree not in (self._change.base, self._change.head):
            raise ConfigurationError(f"{tree}: no state of the change")
        try:
            self._git("read-tree", tree)
        except ConfigurationError:
            if self._git.tree("") != tree:
                raise ConfigurationError("the checkout is no longer what was read; begin again") from None
        if self._given and self._git("ls-tree", "HEAD", "--", *self._given):
            raise ConfigurationError(f"--env {', '.join(self._given)}: the change has it already")
        self._git("checkout-index", "--all", "--force", f"--prefix={folder}/")
        for name, how in self._beside.items():
            place = folder / name
            place.parent.mkdir(parents=True, exist_ok=True)
            if how == "shown":
                place.mkdir(exist_ok=True)
            elif (self.root / name).is_dir():
                shutil.copytree(self.root / name, place, dirs_exist_ok=True)
            elif not place.exists():
                shutil.copyfile(self.root / name, place)

    @cached_property
    def _beside(self) -> dict[str, str]:
        """What lies beside what Git has, and is needed: what was installed is shown, what was made is copied."""
        ignored = self._git("ls-files", "-o", "-i", "--exclude-standard", "--directory", "-z")
        modules = re.findall(r"^160000 .*\t(.*)$", self._git("ls-tree", "-r", self._change.head), re.MULTILINE)
        found, made = dict[str, str](), _BOX.made
        shown = [*modules, *self._given]
        for name in sorted({*ignored.replace("/\0", "\0").split("\0"), *shown, *_BOX.installed} - {""}):
            path = self.root / name
            if path.is_dir() and (path.name in _BOX.installed or name in shown):
                found[name] = "shown"
            elif path.name.endswith("-info") or (path.suffix in made and not _PRIVATE.search(name) and path.is_file()):
                found |= {name: "copied"} if path.stat().st_size < _LARGEST else {}
        return found

    def _order(self, ask: BoxRequest, folder: Path) -> tuple[Order, Mapping[str, object]]:
        root, how = str(self.root), self._change.adapter
        python, program, places, mounts = self._tools
        environment = _BOX.environment | _BOX.around[ask.around]
        environment["PATH"] = f"{Path(program[0]).parent}:/usr/local/bin:/usr/bin:/bin"
        environment["PYTHONPATH"] = f"/run/assay:{root}/src:{root}"
        environment["NODE_PATH"] = os.pathsep.join(map(str, self._env))
        command = [*program, *how.words(self._change.command, ask)[1:]]
        if ask.sealed and how.added:
            orders = {"filters": [confining().hex()], "limits": dict[str, int](), "must": True}
            command = [python, "-I", "-S", "-B", LAUNCHER, json.dumps(orders), *command]
        mine = [name for name in ask.files if how.is_test(name)]
        each = ask.seconds if ask.sealed or mine else _MANY
        seconds = _STARTING + each
        child = {
            "root": root, "watch": ask.watch, "mine": mine,
            "tests": how.test, "seconds": each, "backwards": ask.around == "seed", "python": bool(how.added),
            "loud": words().loud.split(), "traced": ask.around == "plain",
        }  # fmt: skip
        limits = {"seconds": seconds, "most": _SHOWN, "cover": environment["NODE_V8_COVERAGE"]}
        told = {"command": command, "environment": environment, "child": child, **limits}
        shown = dict(zip(map(str, self._env), self._env.values(), strict=True))
        shown |= {f"{root}/{name}": self.root / name for name, kind in self._beside.items() if kind == "shown"}
        return Order(
            (python, "-B", _PROBE), _BOX.limits.model_copy(update={"seconds": seconds + 10}), root, Root(whole=True),
            environment={"PATH": environment["PATH"]}, readable=tuple(places),
            mounts={root: folder, **shown, **mounts}, python=python,
            texts={_PROBE: resources.files("crucible.proving").joinpath("probe.py").read_bytes()},
        ), told  # fmt: skip

    @cached_property
    def _tools(self) -> tuple[str, list[str], list[Path], Mapping[str, Path]]:
        """A Python for the probe, the command's program, the folders that it needs, and those in another place."""
        first = self._change.command.split()[0]
        found = shutil.which(str(self.root / first) if "/" in first else first, path=self._path)
        if found is None:
            raise ConfigurationError(f"{first} is not on this machine; it is the program of the tests' command")
        python, program, mounts = "/usr/bin/python3", [str(Path(found).resolve())], dict[str, Path]()
        places = [Path(found).parent, Path(program[0]).parents[1]]
        if self._change.adapter.name == "pytest":
            beside = first.rpartition("/")[2].startswith("py.test") or "pytest" in first
            asked = [str(Path(found).parent / "python") if beside else found, "-c", _ITSELF]
            python, *where = (str(one) for one in json.loads(self._asked(*asked)) if one)
            program = [python, *(["-m", "pytest"] if beside else [])]
            places = [Path(one) for one in where] + [Path(one).resolve() for one in where[:2]]
        elif self._change.adapter.name == "go":
            caches = self._asked(program[0], "env", "GOCACHE", "GOMODCACHE").splitlines()
            pairs = zip(("/tmp/gocache", "/run/gomod"), map(Path, caches), strict=False)
            mounts = {place: folder for place, folder in pairs if folder.is_dir()}
        hidden = (Path.home(), self.root)
        seen = [one for one in dict.fromkeys(places) if not any(other.is_relative_to(one) for other in hidden)]
        return python, program, [one for one in seen if not one.is_relative_to(self.root)], mounts

    def _asked(self, *command: str) -> str:
        """Return what a program of the caller's says of itself."""
        environment = {**os.environ, "PATH": self._path}
        try:
            done = subprocess.run(command, capture_output=True, timeout=60, check=True, cwd="/", env=environment)
        except (OSError, subprocess.SubprocessError) as fault:
            raise ConfigurationError(f"{command[0]} cannot be run: {type(fault).__name__}") from None
        return done.stdout.decode("utf-8", "replace")
