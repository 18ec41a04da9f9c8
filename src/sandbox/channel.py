"""The kernel's end of a box: run a command, write a file, read a file, copy the work folder out or in."""

from __future__ import annotations

import asyncio
import json
from asyncio.subprocess import Process
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, cast

from sandbox.cgroup import ControlGroup
from sandbox.errors import BoxDied
from sandbox.limits import BoxLimits

Ended: TypeAlias = Literal["", "time", "output", "memory", "files", "processes"]

_HEADER = 64 * 1024
# How long past a command's own time the box may stay silent before it counts as dead.
_GRACE_S = 10.0


@dataclass(frozen=True, slots=True)
class Completed:
    """A command that is over.

    Args:
        code: its exit status; negative for a signal, 127 where there is no such program.
        stdout: what it printed, up to the cap.
        stderr: likewise.
        ended: the limit that ended it, or empty.
    """

    code: int
    stdout: bytes
    stderr: bytes
    ended: Ended = ""

    @property
    def text(self) -> str:
        """What it printed."""
        return self.stdout.decode("utf-8", "replace")


class Box:
    """One running box. Commands run one after the other; what a command started ends with it.

    Args:
        process: bubblewrap, its pipes connected to the supervisor.
        limits: what the box was started with.
    """

    def __init__(self, process: Process, limits: BoxLimits) -> None:
        self._process = process
        self._limits = limits
        self._turn = asyncio.Lock()
        self._dead = ""
        #: the control group around it, where there is one
        self.group: ControlGroup | None = None
        #: what its backend made for it, which goes with it
        self.held = ExitStack()

    @property
    def limits(self) -> BoxLimits:
        """What the box may use."""
        return self._limits

    @property
    def alive(self) -> bool:
        """Whether it still answers."""
        return not self._dead and self._process.returncode is None

    async def run(
        self,
        argv: Sequence[str],
        *,
        stdin: bytes = b"",
        cwd: str = "",
        env: Mapping[str, str] | None = None,
        seconds: float | None = None,
    ) -> Completed:
        """Run a program; no shell reads the words.

        Args:
            argv: the program and its arguments, at least one.
            stdin: what it reads.
            cwd: below the work folder, or absolute inside the box.
            env: added to the box's own small environment.
            seconds: wall time after which it is killed; the box's limit where left out.

        Raises:
            BoxDied: the box is gone.
        """
        seconds = self._limits.seconds if seconds is None else seconds
        answer, data = await self._ask(
            {
                "op": "run",
                "argv": list(argv),
                "cwd": cwd,
                "env": dict(env or {}),
                "timeout": seconds,
                "output": self._limits.output,
            },
            stdin,
            seconds + _GRACE_S,
        )
        split = int(answer["stdout"])
        return Completed(int(answer["code"]), data[:split], data[split:], cast(Ended, answer["ended"]))

    async def write(self, path: str, data: bytes, *, executable: bool = False) -> None:
        """Write a whole file inside the box.

        Raises:
            OSError: as inside the box, by its own class: a directory, no permission, no room.
        """
        await self._ask({"op": "write", "path": path, "executable": executable}, data)

    async def read(self, path: str, cap: int | None = None) -> bytes:
        """Read a whole regular file inside the box.

        Raises:
            OSError: as inside the box; :class:`ValueError` where it is larger than ``cap`` bytes.
        """
        _, data = await self._ask({"op": "read", "path": path, "cap": cap or self._limits.read})
        return data

    async def pack(self) -> bytes:
        """End all processes of the box and copy its work folder out, as a tar archive with a fixed byte form."""
        _, data = await self._ask({"op": "pack"})
        return data

    async def unpack(self, archive: bytes, *, overlay: bool = False) -> None:
        """Empty home and temporary folder and fill the work folder from an archive; or lay one on top."""
        await self._ask({"op": "unpack", "overlay": overlay}, archive)

    async def close(self) -> None:
        """End the box and everything in it."""
        self._dead = self._dead or "it was closed"
        if self._process.returncode is None:
            with suppress(ProcessLookupError):
                self._process.kill()
        await self._process.wait()
        # The transport frees its pipes only once it is told to; the loop may end before it would by itself.
        cast(Any, self._process)._transport.close()
        await asyncio.to_thread(self.held.close)
        if self.group is not None:
            await self.group.gone()

    async def _ask(
        self, request: dict[str, Any], blob: bytes = b"", seconds: float = 60.0
    ) -> tuple[dict[str, Any], bytes]:
        async with self._turn:
            if self._dead:
                raise BoxDied(f"the box is gone: {self._dead}")
            try:
                async with asyncio.timeout(seconds):
                    answer, data = await self._exchange({**request, "blob": len(blob)}, blob)
            except (OSError, EOFError, ValueError, KeyError, TypeError) as fault:
                self._dead = f"it stopped answering ({type(fault).__name__})"
                raise BoxDied(f"the box is gone: {self._dead}") from None
            except BaseException:
                # An exchange cut in the middle leaves the stream out of step.
                self._dead = "an exchange with it was cut off"
                raise
        if kind := answer.get("refused"):
            raise _refusal(str(kind), str(answer.get("message", "")), request)
        return answer, data

    async def _exchange(self, header: dict[str, Any], blob: bytes) -> tuple[dict[str, Any], bytes]:
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None and stdout is not None
        stdin.write(json.dumps(header).encode() + b"\n")
        stdin.write(blob)
        await stdin.drain()
        return await read_frame(stdout, self._limits.archive + self._limits.output + _HEADER)


async def read_frame(stream: asyncio.StreamReader, cap: int) -> tuple[dict[str, Any], bytes]:
    """Read one answer of a supervisor.

    Raises:
        EOFError, ValueError: there is none, or what came is not one.
    """
    line = await stream.readline()
    if not line.endswith(b"\n"):
        raise EOFError
    answer = json.loads(line)
    if not isinstance(answer, dict):
        raise ValueError("not a frame")
    answer = cast(dict[str, Any], answer)
    size = answer.get("blob", 0)
    if type(size) is not int or not 0 <= size <= cap:
        raise ValueError("not a frame")
    return answer, await stream.readexactly(size)


_FAULTS: dict[str, type[OSError]] = {
    "FileNotFoundError": FileNotFoundError,
    "PermissionError": PermissionError,
    "IsADirectoryError": IsADirectoryError,
    "NotADirectoryError": NotADirectoryError,
    "FileExistsError": FileExistsError,
}


def _refusal(kind: str, message: str, request: dict[str, Any]) -> Exception:
    where = request.get("path") or request["op"]
    if kind == "TooLarge":
        return ValueError(f"{where}: {message}")
    return _FAULTS.get(kind, OSError)(f"{where}: {message}")
