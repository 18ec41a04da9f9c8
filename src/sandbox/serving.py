"""A program in a box that answers over its pipes: frames of bytes, each behind its length (u32, big endian)."""

from __future__ import annotations

import os
import select
import signal
import struct
import subprocess
import time
from contextlib import suppress
from typing import NoReturn

from sandbox.backends import Order, started
from sandbox.errors import Gone, how_it_ended
from sandbox.tree import spent

MAX_FRAME = 8 << 20


class Served:
    """One running program. Whatever goes wrong with it ends it.

    Args:
        order: what it runs in.
        by: the backend; the one for this machine where left out.

    Raises:
        NoIsolation: there is none.
    """

    def __init__(self, order: Order, *, by: str = "") -> None:
        self._unread = bytearray()
        with started(order, by) as (_, self._start, stack):
            self._process = subprocess.Popen(
                self._start.argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                bufsize=0, start_new_session=True, **self._start.options,
            )  # fmt: skip
            self._held = stack.pop_all()
        assert self._process.stdin is not None and self._process.stdout is not None
        self._in, self._out = self._process.stdin.fileno(), self._process.stdout.fileno()
        os.set_blocking(self._in, False)

    def close(self) -> None:
        """End the program and all that it started."""
        end(self._process.pid)
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                with suppress(OSError):
                    pipe.close()
        self._process.wait()
        self._held.close()

    def send(self, seconds: float, *frames: bytes) -> None:
        """Send frames in one go.

        Raises:
            Gone: it does not read within ``seconds``, or has ended.
        """
        data = memoryview(b"".join(struct.pack(">I", len(frame)) + frame for frame in frames))
        deadline = time.monotonic() + seconds
        while data:
            if not select.select([], [self._in], [], max(0.0, deadline - time.monotonic()))[1]:
                self._give_up("it does not read what it is asked")
            try:
                data = data[os.write(self._in, data) :]
            except BlockingIOError:
                continue
            except OSError:
                self._died()

    def receive(self, seconds: float) -> bytes:
        """Return the next frame. Processor time counts: a busy machine blames nobody.

        Raises:
            Gone: it takes more than ``seconds``, says too much, or has ended.
        """
        begun, before = time.monotonic(), None
        while True:
            if len(self._unread) >= 4:
                size = struct.unpack(">I", self._unread[:4])[0]
                if size > MAX_FRAME:
                    self._give_up(f"its answer is larger than {MAX_FRAME >> 20} MiB")
                if len(self._unread) >= 4 + size:
                    frame = bytes(self._unread[4 : 4 + size])
                    del self._unread[: 4 + size]
                    return frame
            if select.select([self._out], [], [], seconds / 4)[0]:
                part = b""
                with suppress(OSError):
                    part = os.read(self._out, 1 << 16)
                if not part:
                    self._died()
                self._unread += part
                continue
            now = spent(self._start.first(self._process.pid))
            before = now if before is None else before
            if now - before >= 0.75 * seconds or time.monotonic() - begun > 10 * seconds:
                self._give_up(f"it takes more than {round(seconds, 1):g} s for one call")

    def _give_up(self, why: str) -> NoReturn:
        self.close()
        raise Gone(why)

    def _died(self) -> NoReturn:
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(1.0)
        self._give_up(how_it_ended(self._process.returncode))


def end(pid: int) -> None:
    """End a process that leads a group, and the group."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)
