"""Runs each command in a copy of itself, so that what commands import is loaded once; started by ``commands.py``.

A copy is a process of its own, with its own environment, folder, streams and end, and a fresh state: this process
imports modules and does nothing else. Which ones, it learns from the copies that have ended.
"""

import atexit
import contextlib
import gc
import importlib
import json
import os
import runpy
import select
import signal
import socket
import struct
import sys
import tempfile
import threading
import traceback
import warnings
from dataclasses import dataclass
from typing import IO, Any


@dataclass
class Copy:
    """A command at work: where its exit code goes, and where it leaves the names of its modules."""

    reply: int
    modules: IO[str]


def request(control: socket.socket) -> tuple[dict[str, Any], list[int]] | None:
    """The next command, and its stdin, stdout, stderr and reply; nothing at the end."""
    head, fds, _, _ = socket.recv_fds(control, 4, 4)
    if not head:
        return None
    length, text = struct.unpack("!I", head)[0], b""
    while len(text) < length:
        text += control.recv(length - len(text))
    return json.loads(text), fds


def ended(copies: dict[int, Copy]) -> None:
    """Report the copies that have ended and what they took, and load what they had loaded."""
    while copies:
        pid, status, used = os.wait4(-1, os.WNOHANG)
        if pid == 0:
            return
        copy = copies.pop(pid)
        spent = used.ru_utime + used.ru_stime
        os.write(copy.reply, struct.pack("!id", os.waitstatus_to_exitcode(status), spent))
        os.close(copy.reply)
        copy.modules.seek(0)
        for name in copy.modules.read().split():
            if name not in sys.modules:
                with contextlib.suppress(Exception):
                    importlib.import_module(name)
        copy.modules.close()


def next_command(control: socket.socket) -> list[str]:
    """Serve until the end of the session; return in each copy, with the arguments of its command."""
    gc.disable()
    wake, woken = os.pipe()
    os.set_blocking(woken, False)
    signal.set_wakeup_fd(woken)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    copies: dict[int, Copy] = {}
    while True:
        ready = select.select([control, wake], [], [])[0]
        if wake in ready:
            os.read(wake, 4096)
            ended(copies)
        if control not in ready:
            continue
        received = request(control)
        if received is None:
            os._exit(0)
        command, (*streams, reply) = received
        # What is loaded stays: a copy that looked whether it is garbage would make all of it its own.
        gc.freeze()
        modules = tempfile.TemporaryFile("w+")  # noqa: SIM115 - the copy writes it, and its end is later
        pid = os.fork()
        if pid:
            copies[pid] = Copy(reply, modules)
            for stream in streams:
                os.close(stream)
            continue
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        for number, stream in enumerate(streams):
            os.dup2(stream, number)
        for fd in (wake, woken, reply, *streams, *(copy.reply for copy in copies.values())):
            os.close(fd)
        control.close()
        gc.set_threshold(50_000)
        gc.enable()
        begin(command, modules)
        return command["arguments"]


def begin(command: dict[str, Any], modules: IO[str]) -> None:
    """Make this copy what a fresh process would be."""

    def leave_names() -> None:
        with modules:
            modules.write("\n".join(sys.modules))

    os.chdir(command["cwd"])
    os.environ.clear()
    os.environ.update(command["env"])
    if os.environ.get("PYTHONWARNINGS") == "error":
        warnings.simplefilter("error")
    sys.dont_write_bytecode = bool(os.environ.get("PYTHONDONTWRITEBYTECODE"))
    place = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    sys.path[:1] = [command["cwd"], *(folder for folder in place if folder and folder not in sys.path)]
    atexit.register(leave_names)


def run_to_end(arguments: list[str]) -> int:
    """Run the command; return its exit code."""
    sys.argv[1:] = arguments
    try:
        runpy.run_module("assay", run_name="__main__", alter_sys=True)
    except SystemExit as left:
        if isinstance(left.code, str):
            print(left.code, file=sys.stderr)
        return left.code if isinstance(left.code, int) else bool(left.code)
    except BaseException:
        traceback.print_exc()
        return 1
    return 0


if __name__ == "__main__":
    exit_code = run_to_end(next_command(socket.socket(fileno=int(sys.argv[1]))))
    # Ends as an interpreter does, but leaves it to the kernel to free what the application had loaded.
    threading._shutdown()  # pyright: ignore[reportAttributeAccessIssue]
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(exit_code)
