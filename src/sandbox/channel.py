"""Our end of a program that answers, and of a box: run a command, write, read, copy the work folder out or in."""

from __future__ import annotations

import asyncio
import json
import os
import tempfile
from asyncio.subprocess import PIPE, Process
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from typing import IO, Any, Literal, TypeAlias, cast

from sandbox.backends import Start
from sandbox.cgroup import ControlGroup
from sandbox.errors import BoxDied, Gone, how_it_ended
from sandbox.limits import BoxLimits

Ended: TypeAlias = Literal["", "time", "output", "memory", "files", "processes"]

_LONGEST_LINE = 64 << 20
_COMPLAINTS = 2000
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


class Channel:
    """A program that answers lines, and bytes behind them, with lines of JSON, and bytes behind those.

    Args:
        process: the program, started by :meth:`to`.
        complaints: what it says beside its answers.
        held: what was made for it, which goes with it.
        cap: bytes behind one answer.
    """

    def __init__(self, process: Process, complaints: IO[bytes], held: ExitStack, cap: int) -> None:
        self._process, self._complaints, self.held, self._cap = process, complaints, held, cap

    @classmethod
    async def to(cls, start: Start, held: ExitStack | None = None, *, cap: int = 0) -> Channel:
        """Start a program; it takes over what was made for it.

        Raises:
            OSError: there is no such program.
        """
        with ExitStack() as stack:
            complaints = stack.enter_context(tempfile.TemporaryFile())
            process = await asyncio.create_subprocess_exec(
                *start.argv, stdin=PIPE, stdout=PIPE, stderr=complaints, limit=_LONGEST_LINE, **start.options
            )
            if held is not None:
                stack.push(held.pop_all())
            return cls(process, complaints, stack.pop_all(), cap)

    @property
    def pid(self) -> int:
        """Of what was started."""
        return self._process.pid

    @property
    def alive(self) -> bool:
        """Whether it has not ended."""
        return self._process.returncode is None

    async def ask(self, line: bytes, blob: bytes = b"", *, seconds: float) -> tuple[dict[str, Any], bytes]:
        """Ask, and return what is answered. Where that was cut off, there is nothing more to ask.

        Raises:
            Gone: it takes longer, has ended, or what it says is no answer.
        """
        assert self._process.stdin is not None
        self._process.stdin.write(line + b"\n")
        self._process.stdin.write(blob)
        return await self.hear(seconds)

    async def hear(self, seconds: float) -> tuple[dict[str, Any], bytes]:
        """Return what it says next.

        Raises:
            Gone: as above.
        """
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None and stdout is not None
        try:
            async with asyncio.timeout(seconds):
                with suppress(ConnectionError):
                    await stdin.drain()
                line = await stdout.readline()
                if not line.endswith(b"\n"):
                    await self._process.wait()
                    raise Gone(how_it_ended(self._process.returncode) + self._last_words())
                answer: dict[str, Any] = json.loads(line)
                size = answer.get("blob", 0)
                if type(size) is not int or not 0 <= size <= self._cap:
                    raise ValueError
                return answer, await stdout.readexactly(size)
        except TimeoutError:
            raise Gone(f"it takes more than {seconds:g} s to answer") from None
        except (EOFError, ValueError, AttributeError, OSError):
            raise Gone("what it answers has another form") from None

    async def close(self) -> None:
        """End it, and all that was made for it."""
        if self._process.returncode is None:
            with suppress(ProcessLookupError):
                self._process.kill()
        await self._process.wait()
        # The transport frees its pipes only once it is told to; the loop may end before it would by itself.
        cast(Any, self._process)._transport.close()
        await asyncio.to_thread(self.held.close)

    def _last_words(self) -> str:
        self._complaints.seek(max(0, self._complaints.seek(0, os.SEEK_END) - _COMPLAINTS))
        lines = self._complaints.read().decode("utf-8", "replace").strip().splitlines()
        return f" ({lines[-1].strip()[:300]})" if lines else ""


class Box:
    """One running box. Commands run one after the other; what a command started ends with it.

    Args:
        channel: to the supervisor.
        limits: what the box was started with.
        group: the control group around it, where there is one.
    """

    def __init__(self, channel: Channel, limits: BoxLimits, group: ControlGroup | None) -> None:
        self._channel, self.limits, self.group = channel, limits, group
        self._turn = asyncio.Lock()
        self._dead = ""

    @property
    def held(self) -> ExitStack:
        """What was made for it, and goes with it."""
        return self._channel.held

    @property
    def alive(self) -> bool:
        """Whether it still answers."""
        return not self._dead and self._channel.alive

    async def run(
        self, argv: Sequence[str], *, stdin: bytes = b"", cwd: str = "", env: Mapping[str, str] | None = None,
        seconds: float | None = None, processor: float | None = None,
    ) -> Completed:  # fmt: skip
        """Run a program; no shell reads the words.

        Args:
            argv: the program and its arguments, at least one.
            stdin: what it reads.
            cwd: below the work folder, or absolute inside the box.
            env: added to the box's own small environment.
            seconds: wall time after which it is killed; the box's limit where left out.
            processor: seconds of a processor, of all its processes together, after which it is killed; any
                number where left out.

        Raises:
            BoxDied: the box is gone.
        """
        seconds = self.limits.seconds if seconds is None else seconds
        asked = {"argv": list(argv), "cwd": cwd, "env": dict(env or {}), "timeout": seconds, "processor": processor}
        answer, data = await self._ask({"op": "run", **asked, "output": self.limits.output}, stdin, seconds + _GRACE_S)
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
        _, data = await self._ask({"op": "read", "path": path, "cap": cap or self.limits.read})
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
        await self._channel.close()

    async def _ask(
        self, request: dict[str, Any], blob: bytes = b"", seconds: float = 60.0
    ) -> tuple[dict[str, Any], bytes]:
        async with self._turn:
            if self._dead:
                raise BoxDied(f"the box is gone: {self._dead}")
            header = json.dumps({**request, "blob": len(blob)}).encode()
            try:
                answer, data = await self._channel.ask(header, blob, seconds=seconds)
            except Gone as fault:
                self._dead = str(fault)
                raise BoxDied(f"the box is gone: {self._dead}") from None
            except BaseException:
                self._dead = "an exchange with it was cut off"
                raise
        if kind := answer.get("refused"):
            raise _refusal(str(kind), str(answer.get("message", "")), request)
        return answer, data


_FAULTS = {
    one.__name__: one
    for one in (FileNotFoundError, PermissionError, IsADirectoryError, NotADirectoryError, FileExistsError)
}


def _refusal(kind: str, message: str, request: dict[str, Any]) -> Exception:
    where = request.get("path") or request["op"]
    if kind == "TooLarge":
        return ValueError(f"{where}: {message}")
    return _FAULTS.get(kind, OSError)(f"{where}: {message}")
