"""`assay` as a person meets it: processes with their own environment, folder, streams and exit code.

They are copies of one process that has loaded the application (``command_server.py``), which spares each of them
up to two seconds of imports. A test of what a fresh process does starts one of its own, or asks for it here.
"""

from __future__ import annotations

import asyncio
import json
import os
import socket
import struct
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

#: Where the code under test is, if it is not the code that is installed: another work tree's.
_PLACE = {"PYTHONPATH": os.environ["PYTHONPATH"]} if "PYTHONPATH" in os.environ else {}

#: Variables for the interpreter that a copy follows as a fresh process does.
FOLLOWED = ("PYTHONPATH", "PYTHONWARNINGS", "PYTHONDONTWRITEBYTECODE")


def bare_world(folder: Path, **more: str) -> dict[str, str]:
    """Return an environment without keys, whose home, configuration and runs are in one folder."""
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(folder),
        "ASSAY_CONFIG_DIR": str(folder / "config"),
        "ASSAY_DATA_DIR": str(folder / "data"),
        "ASSAY_LOCAL_SERVERS": "",
        **_PLACE,
        **more,
    }


@dataclass(frozen=True, slots=True)
class Done:
    """What a process left behind."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


class Commands:
    """Runs commands until :meth:`close`."""

    #: Seconds of a processor that the copies have taken, with the processes that they waited for.
    spent = 0.0

    def __init__(self) -> None:
        self._control: socket.socket | None = None
        self._server: subprocess.Popen[bytes] | None = None

    async def run(
        self, *arguments: str, cwd: Path, env: dict[str, str], stdin: bytes = b"", fresh: bool = False
    ) -> Done:
        """Run ``assay ARGUMENTS`` to its end; ``fresh`` in a process that nothing was loaded into."""
        # What holds on the test's machine holds in its processes, whichever way they come to be.
        env = _PLACE | {"ASSAY_SANDBOX": os.environ["ASSAY_SANDBOX"]} | env
        with tempfile.TemporaryFile() as typed, tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            typed.write(stdin)
            typed.seek(0)
            streams = typed.fileno(), out.fileno(), err.fileno()
            if fresh or not hasattr(os, "fork") or _changes_the_interpreter(env):
                code = await _started(arguments, cwd, env, streams)
            else:
                code = await self._copied(arguments, cwd, env, streams)
            out.seek(0)
            err.seek(0)
            return Done(code, out.read().decode(), err.read().decode())

    def close(self) -> None:
        """Let the process that makes the copies end."""
        if self._control is not None and self._server is not None:
            self._control.close()
            self._server.wait()

    async def _copied(
        self, arguments: tuple[str, ...], cwd: Path, env: dict[str, str], streams: tuple[int, ...]
    ) -> int:
        words = [os.fsdecode(argument) for argument in arguments]
        text = json.dumps({"arguments": words, "cwd": str(cwd), "env": env}).encode()
        reply, theirs = socket.socketpair()
        reply.setblocking(False)
        with reply:
            with theirs:
                control = self._connected()
                socket.send_fds(control, [struct.pack("!I", len(text))], [*streams, theirs.fileno()])
                control.sendall(text)
            ended = await asyncio.get_running_loop().sock_recv(reply, 12)
        code, spent = struct.unpack("!id", ended)
        Commands.spent += spent
        return code

    def _connected(self) -> socket.socket:
        if self._control is None:
            self._control, theirs = socket.socketpair()
            with theirs:
                self._server = subprocess.Popen(
                    [sys.executable, str(Path(__file__).with_name("command_server.py")), str(theirs.fileno())],
                    pass_fds=[theirs.fileno()],
                    # A copy has the one thread that asked for it, so nothing that is loaded may have others.
                    env={"PATH": os.environ["PATH"], "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", **_PLACE},
                    start_new_session=True,
                )
        return self._control


def _changes_the_interpreter(env: dict[str, str]) -> bool:
    if any(name.startswith("PYTHON") and name not in FOLLOWED for name in env):
        return True
    return any(Path(folder, "sitecustomize.py").exists() for folder in env.get("PYTHONPATH", "").split(os.pathsep))


async def _started(arguments: tuple[str, ...], cwd: Path, env: dict[str, str], streams: tuple[int, int, int]) -> int:
    stdin, stdout, stderr = streams
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "assay", *arguments), stdin=stdin, stdout=stdout, stderr=stderr, cwd=cwd, env=env
    )
    return await process.wait()
