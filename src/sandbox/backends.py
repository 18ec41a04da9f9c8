"""What runs a box: what is asked of it, what a backend answers, and which one it is here."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Generator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any, Protocol

from sandbox.cgroup import ControlGroup
from sandbox.errors import NoIsolation
from sandbox.filter import confining, program
from sandbox.limits import BoxLimits
from sandbox.root import Root

GROUP, VARIABLE, NONE = "assay.sandboxes", "ASSAY_SANDBOX", "none"
LAUNCHER = "/run/launch.py"
#: Ours, in the order in which they are tried where nobody has named one; those of others come after them.
_OURS = {
    "bubblewrap": "sandbox.bubblewrap:Bubblewrap",
    "podman": "sandbox.engine:Podman",
    "docker": "sandbox.engine:Docker",
}


@dataclass(frozen=True, slots=True)
class Order:
    """What a box holds, and what runs in it.

    Args:
        command: the program and its arguments, as seen from inside.
        limits: what it may use.
        folder: where it starts.
        root: what the box is made of.
        environment: all of its variables.
        readable: host folders that it sees, in their own place.
        writable: host folders that it writes to, in their own place.
        mounts: host folders that it sees in another place, by that place. Who gives one trusts the program: it may
            read what its owner may.
        shared: host folders that anybody may read, by such a place.
        texts: read-only files that are made for it, by their place.
        hidden: host folders that must not be seen.
        scratch: places for files of its own, which go with it.
        python: the interpreter that sets its limits.
        confined: starts no process and opens no socket, besides having no network.
        supervised: the program sets limits of its own on what it starts.
    """

    command: tuple[str, ...]
    limits: BoxLimits
    folder: str = "/"
    root: Root = field(default_factory=Root)
    environment: Mapping[str, str] = field(default_factory=dict[str, str])
    readable: tuple[Path, ...] = ()
    writable: tuple[Path, ...] = ()
    mounts: Mapping[str, Path] = field(default_factory=dict[str, Path])
    shared: Mapping[str, Path] = field(default_factory=dict[str, Path])
    texts: Mapping[str, bytes] = field(default_factory=dict[str, bytes])
    hidden: tuple[Path, ...] = ()
    scratch: tuple[str, ...] = ("/tmp",)
    python: str = "python3"
    confined: bool = False
    supervised: bool = False

    @property
    def launcher(self) -> bytes:
        """The text of what runs first: it sets limits and filters, and becomes the command."""
        return resources.files("sandbox").joinpath("launch.py").read_bytes()

    def launched(self, launcher: str, *, isolated: bool = True) -> list[str]:
        """Return the command behind its launcher.

        Args:
            launcher: the place of the launcher's text.
            isolated: refuse to start where the filters cannot be set.

        Raises:
            NoIsolation: no filter is known for this machine.
        """
        filters = [program(), *([confining()] if self.confined else [])]
        if isolated and not all(filters):
            raise NoIsolation("no filter of system calls is known for this machine")
        limits = {} if self.supervised else self.limits.of_a_process()
        orders = {"filters": [one.hex() for one in filters if one], "limits": limits, "must": isolated}
        return [self.python, "-I", "-S", "-B", launcher, json.dumps(orders), *self.command]

    def shown(self) -> list[Path]:
        """Return the folders to be read that are there and that the root does not show already."""
        shown = dict.fromkeys(path for path in self.readable if path.exists() and path not in self.writable)
        return [path for path in shown if not (self.root.whole and path.is_relative_to("/usr"))]

    @property
    def trusted(self) -> bool:
        """Whether it needs what belongs to whoever starts it."""
        return bool(self.mounts or self.writable or self.readable)


@dataclass(frozen=True, slots=True)
class Start:
    """How a box is started: a command line, and what :class:`subprocess.Popen` is told besides.

    Args:
        first: tells the box's first process on this machine from the one that was started.
    """

    argv: list[str]
    options: dict[str, Any]
    first: Callable[[int], int] = int


class Backend(Protocol):
    """One way to isolate. What it makes for a box goes when the stack is closed, and the box with it."""

    name: str
    isolates: bool

    def program(self) -> Path:
        """Return its program.

        Raises:
            NoIsolation: it is not here.
        """
        ...

    def start(self, order: Order, stack: ExitStack) -> Start:
        """Return how a box is started.

        Raises:
            NoIsolation: it cannot be.
            BadRoot: a hidden folder holds what the box is made of.
        """
        ...

    def enclose(self, pid: int, limits: BoxLimits, stack: ExitStack) -> ControlGroup | None:
        """Put a control group around a box that has just been started, where we have to; it goes with the stack."""
        ...


class Bare:
    """No isolation: limits and filters of the process alone, and only where a person names it."""

    name, isolates = NONE, False

    def program(self) -> Path:
        return Path(sys.executable)

    def start(self, order: Order, stack: ExitStack) -> Start:
        argv = order.launched(str(resources.files("sandbox").joinpath("launch.py")), isolated=False)
        return Start(argv, {"cwd": order.folder, "env": dict(order.environment)})

    def enclose(self, pid: int, limits: BoxLimits, stack: ExitStack) -> ControlGroup | None:
        return None


def backend(name: str = "", *, bare: bool = False) -> Backend:
    """Return what isolates: the backend of that name, the one that ``ASSAY_SANDBOX`` names, or the first there is.

    Args:
        name: of the backend.
        bare: whether ``none`` will do, where a person has named it.

    Raises:
        NoIsolation: there is none; says how to get one.
    """
    name = name or os.environ.get(VARIABLE, "")
    found = _found()
    if name:
        if name not in found:
            raise NoIsolation(f"{VARIABLE}={name}: there is no such sandbox; there are {', '.join(sorted(found))}")
        if not (bare or found[name].isolates):
            raise NoIsolation(f"{VARIABLE}={name} isolates nothing, and this is never run so: apt install bubblewrap")
        found[name].program()
        return found[name]
    for one in found.values():
        with suppress(NoIsolation):
            one.program()
            if one.isolates:
                return one
    raise NoIsolation(
        "nothing on this machine isolates: apt install bubblewrap, or podman, or docker"
        + (f"; {VARIABLE}={NONE} says that you want code of models to run all the same" if bare else "")
    )


@contextmanager
def started(order: Order, by: str = "") -> Generator[tuple[Backend, Start, ExitStack]]:
    """Give how a box is started, and what holds all that was made for it; who starts it takes that over.

    Raises:
        NoIsolation: there is no backend, or it cannot be started.
    """
    chosen = backend(by, bare=True)
    with ExitStack() as stack:
        try:
            yield chosen, chosen.start(order, stack), stack
        except OSError as fault:
            raise NoIsolation(f"{chosen.name} cannot be started here: {fault}") from None


@cache
def _found() -> dict[str, Backend]:
    found: dict[str, Backend] = {NONE: Bare()}
    for one in (*(EntryPoint(name, place, GROUP) for name, place in _OURS.items()), *entry_points(group=GROUP)):
        found[one.name] = one.load()()
    return found
