"""Bodies served from a sealed process: how it is started, what is said over its pipes, and how a call may end.

The process holds sources alone, no contract and no case: a body can reach neither its judge nor its questions.

**Frames**, both ways over standard input and output: a length (u32, big endian), then one MessagePack value.

- After it has warmed up and sealed itself, the process sends ``[0, 0, seal, nil]``: ``seal`` says in words what
  holds it from the inside (``"seccomp"``), or is empty.
- Request ``[id, name, args]``: ``id`` is 63 random bits, ``name`` is ``module.function`` as the plan has it.
- Answer ``[id, status, value, trace]``. Status 0: returned ``value``. Status 1: raised, ``value`` is
  ``[error, message]``, the error by the name that the specification has for it, or else by the language's own.
  Status 2: it changed an argument; ``value`` is the parameter's name. Status 3: the language has no such argument
  (``2 ** 64`` where whole numbers have 64 bits); ``value`` says why.
- ``trace``: ``[name, args, status, value]`` for each call that the body itself made to another function of the
  project (not the calls which those made in turn), in order; ``nil`` where it would be larger than 1 MiB.

A name with ``#work`` behind it asks for the work of that call instead of its result: status 0 and an int, the steps
of an interpreter, or the nanoseconds of the fastest of five tries; status 1 where it raised.

The name ``#lines`` is no function: the first time the process begins to watch the lines of the sources that run and
answers ``[0, 0]``, after that it answers with how many ran and how many there are; status 1 where it cannot.

**Values**: nil, bool, int (beyond 64 bits ext 1: decimal digits), float64, str, bin. A list, set, tuple and record
is an array (a record's in the order of its fields, a set's in any order); a map is ext 5 holding an array of
``[key, value]``; an enum is its member's name as the specification has it; ``Option`` is nil or the value; a
``Result`` is its value; ``UUID`` is str; Decimal is ext 2 (text); Date and Timestamp are ext 3 (ISO 8601); ext 4 is
a duration (nanoseconds as int64, big endian). Both sides know the types from the specification.

The process is started once for each variant of the bodies, with the variant's number as its last argument. It ends
when its input closes. What is no answer to the request ends it: another id, a frame over 8 MiB, 2 s, its death.
"""

from __future__ import annotations

import os
import secrets
import select
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Self, cast

from criticality.judging.building import BuildFailed, ServedProgram, faulty, without
from criticality.judging.outcomes import Call, Died, NoSuchValue, Outcome, Raised, Returned
from criticality.judging.wire import Codec, Unreadable, pack, unpack

MAX_FRAME = 8 << 20
START_S = 30.0
_AT_ONCE = 32 << 10
#: What languages call it when there is no more memory.
_NO_MEMORY = ("MemoryError", "OutOfMemoryError", "bad_alloc")
_TICKS = os.sysconf("SC_CLK_TCK")


class Place:
    """A folder with a program's files, built; :meth:`serve` starts its variants. Use it as ``with``.

    Args:
        limit: seconds of processor time for one call.
        isolated: with bubblewrap; left out, wherever it is installed.
    """

    def __init__(
        self, program: ServedProgram, codec: Codec, *, limit: float = 2.0, isolated: bool | None = None
    ) -> None:
        self.program, self.codec, self.limit = program, codec, limit
        self.isolated = shutil.which("bwrap") is not None if isolated is None else isolated
        self._temporary = tempfile.TemporaryDirectory(prefix="served-", ignore_cleanup_errors=True)
        self.folder = Path(self._temporary.name)
        self.folder.chmod(0o755)
        #: Variants that do not compile.
        self.unbuilt: set[int] = set()
        self._write(program.files)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self._temporary.cleanup()

    def build(self, seconds: float = 180.0) -> None:
        """Run the program's build commands; variants that do not compile are left out.

        Raises:
            BuildFailed: one of them fails, or takes longer, and that is no variant's fault but of number 0.
        """
        files = self.program.files
        while True:
            try:
                self._build(seconds)
                return
            except BuildFailed as failed:
                faults = faulty(files, str(failed)) - self.unbuilt
                if not faults or 0 in faults:
                    raise
                self.unbuilt |= faults
                todo = self.program.todo
                files = {path: without(text, faults, todo) for path, text in files.items()}
                self._write(files)

    def _write(self, files: Mapping[str, str]) -> None:
        for path, text in files.items():
            target = self.folder / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text, "utf-8")

    def _build(self, seconds: float) -> None:
        for command in self.program.build:
            try:
                ended = subprocess.run(
                    [*self.box(writable=True), *command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                    stderr=subprocess.STDOUT, cwd=self.folder, env=self.program.environment, timeout=seconds,
                    check=False,
                )  # fmt: skip
            except subprocess.TimeoutExpired:
                raise BuildFailed(f"the build took more than {seconds:g} s") from None
            if ended.returncode:
                raise BuildFailed(ended.stdout.decode("utf-8", "replace")[:200_000])

    def serve(self, variant: int = 0) -> Process:
        """Start one variant."""
        return Process(self, variant)

    def box(self, *, writable: bool = False) -> list[str]:
        """Return the words before a command that put it into bubblewrap; none where it is not used."""
        if not self.isolated:
            return []
        command = ["bwrap", "--unshare-all", "--unshare-user", "--disable-userns", "--die-with-parent"]
        command += ["--new-session", "--cap-drop", "ALL", "--uid", "1000", "--gid", "1000", "--hostname", "box"]
        command += ["--ro-bind", "/usr", "/usr"]
        for link in ("bin", "sbin", "lib", "lib32", "lib64", "libx32"):
            if Path("/usr", link).exists():
                command += ["--symlink", f"usr/{link}", f"/{link}"]
        command += ["--proc", "/proc", "--dev", "/dev", "--size", str(256 << 20), "--tmpfs", "/tmp"]
        for path in dict.fromkeys(self.program.read_only):
            if path.exists() and not path.is_relative_to("/usr"):
                command += ["--ro-bind", str(path), str(path)]
        for path in self.program.shared if writable else ():
            command += ["--bind", str(path), str(path)]
        command += ["--bind" if writable else "--ro-bind", str(self.folder), str(self.folder)]
        return [*command, "--remount-ro", "/", "--chdir", str(self.folder), "--"]


#: Limits that are set before the program starts: memory, file size, open files, no core.
_LAUNCH = (
    "import os,resource,sys\n"
    "memory=int(sys.argv[1])\n"
    "for limit,value in ((resource.RLIMIT_AS,memory),(resource.RLIMIT_FSIZE,1<<20),(resource.RLIMIT_CORE,0)):\n"
    " hard=resource.getrlimit(limit)[1]\n"
    " value=value if hard==resource.RLIM_INFINITY else min(value,hard)\n"
    " if value or limit!=resource.RLIMIT_AS: resource.setrlimit(limit,(value,value))\n"
    "os.execvpe(sys.argv[2],sys.argv[2:],os.environ)"
)


class Process:
    """One process that serves one variant; started by its first call, and again after it died."""

    def __init__(self, place: Place, variant: int) -> None:
        self._place, self._variant = place, variant
        self._process: subprocess.Popen[bytes] | None = None
        self._unread = bytearray()
        #: What the process says that it is held by from the inside.
        self.seal = ""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def close(self) -> None:
        """End the process and all that it started."""
        process, self._process = self._process, None
        self._unread.clear()
        if process is None:
            return
        for kill in (lambda: os.killpg(process.pid, signal.SIGKILL), process.kill):
            with suppress(ProcessLookupError, PermissionError):
                kill()
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                with suppress(OSError):
                    pipe.close()
        process.wait()

    def call(self, name: str, args: Sequence[Any]) -> Outcome:
        """Call one function and wait for how it ends."""
        return next(iter(self.call_many([(name, args)])))

    def work(self, name: str, args: Sequence[Any]) -> int | None:
        """Return how much work a call takes; ``None`` where it gives no answer."""
        outcome = self.call(f"{name}#work", args)
        return outcome.value if isinstance(outcome, Returned) else None

    def call_packed(self, name: str, packed: bytes) -> Outcome:
        """Call one function with arguments that are bytes of the wire already."""
        identity = secrets.randbits(63)
        fault = self._send(b"\x93" + pack(identity) + pack(name) + packed)
        return Died(fault) if fault else self._answer(identity, name)

    def call_many(self, calls: Iterable[tuple[str, Sequence[Any]]]) -> Iterator[Outcome]:
        """Yield how each call ends, in order; others are on their way meanwhile. It stops after a death."""
        waiting: list[tuple[int, str, int]] = []
        held = 0
        source, pending = iter(calls), None
        ended = False
        while True:
            while not ended and (not waiting or held < _AT_ONCE):
                pending = pending or next(source, None)
                if pending is None:
                    ended = True
                    break
                identity = secrets.randbits(63)
                frame = pack([identity, pending[0], self._place.codec.request(*pending)])
                if waiting and held + len(frame) > _AT_ONCE:
                    break
                fault = self._send(frame)
                waiting.append((identity, pending[0], len(frame)))
                held, pending = held + len(frame), None
                if fault:
                    yield Died(fault)
                    return
            if not waiting:
                return
            identity, name, size = waiting.pop(0)
            held -= size
            outcome = self._answer(identity, name)
            yield outcome
            if isinstance(outcome, Died):
                return

    def _send(self, frame: bytes) -> str:
        fault = self._started()
        if fault:
            return fault
        process = self._process
        assert process is not None and process.stdin is not None
        data = memoryview(struct.pack(">I", len(frame)) + frame)
        deadline = time.monotonic() + 10 * self._place.limit
        while data:
            if not select.select([], [process.stdin], [], max(0.0, deadline - time.monotonic()))[1]:
                self.close()
                return "it does not read what it is asked"
            try:
                data = data[os.write(process.stdin.fileno(), data) :]
            except BlockingIOError:
                continue
            except OSError:
                return self._death()
        return ""

    def _answer(self, identity: int, name: str) -> Outcome:
        limit = self._place.limit
        data = self._frame(limit)
        if isinstance(data, str):
            return Died(data)
        try:
            answer = _array(unpack(data), 4)
            if answer[0] != identity:
                raise Unreadable("it answers what was not asked")
            return self._outcome(name, answer[1], answer[2], answer[3])
        except Unreadable as fault:
            self.close()
            return Died(str(fault))

    def _outcome(self, name: str, status: Any, value: Any, trace: Any) -> Outcome:
        codec = self._place.codec
        calls = None if trace is None else tuple(self._traced(entry) for entry in _array(trace))
        match status:
            case 0:
                return Returned(codec.result(name, value), calls)
            case 1:
                kind, message = _error(value)
                if kind in _NO_MEMORY:
                    self.close()
                    return Died(f"it takes more than {self._place.program.memory >> 20} MiB of memory for one call")
                return Raised(kind, message, calls)
            case 2:
                return Died(f"it changes {str(value)[:60]}, a value that it was given")
            case 3:
                return NoSuchValue(str(value)[:200])
            case _:
                raise Unreadable("it answers with an unknown status")

    def _traced(self, entry: Any) -> Call:
        name, args, status, value = _array(entry, 4)
        codec = self._place.codec
        if not isinstance(name, str) or name not in codec.functions:
            raise Unreadable("it reports a call of an unknown function")

        def read() -> tuple[tuple[Any, ...], Returned | Raised]:
            outcome = Returned(codec.result(name, value)) if status == 0 else Raised(*_error(value))
            return codec.arguments(name, args), outcome

        return Call(name, read)

    def _frame(self, limit: float) -> bytes | str:
        """Return the next frame, or why there is none; processor time counts: a busy machine blames nobody."""
        begun = time.monotonic()
        spent: float | None = None
        assert self._process is not None and self._process.stdout is not None
        out = self._process.stdout.fileno()
        while True:
            if len(self._unread) >= 4:
                size = struct.unpack(">I", self._unread[:4])[0]
                if size > MAX_FRAME:
                    self.close()
                    return f"its answer is larger than {MAX_FRAME >> 20} MiB"
                if len(self._unread) >= 4 + size:
                    frame = bytes(self._unread[4 : 4 + size])
                    del self._unread[: 4 + size]
                    return frame
            if select.select([out], [], [], limit / 4)[0]:
                try:
                    part = os.read(out, 1 << 16)
                except OSError:
                    part = b""
                if not part:
                    return self._death()
                self._unread += part
                continue
            now = _spent(self._process.pid)
            spent = now if spent is None else spent
            if now - spent >= 0.75 * limit or time.monotonic() - begun > 10 * limit:
                self.close()
                return f"it takes more than {limit:g} s for one call"

    def _started(self) -> str:
        if self._process is not None:
            return ""
        place = self._place
        command = [sys.executable, "-I", "-S", "-c", _LAUNCH, str(place.program.memory), *place.box()]
        self._process = subprocess.Popen(
            [*command, *place.program.command, str(self._variant)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, cwd=place.folder, env=place.program.environment, start_new_session=True,
            bufsize=0,
        )  # fmt: skip
        assert self._process.stdin is not None
        os.set_blocking(self._process.stdin.fileno(), False)
        data = self._frame(START_S)
        if isinstance(data, str):
            return f"no process for bodies starts here ({data}); run: criticality doctor"
        with suppress(Unreadable):
            self.seal = str(_array(unpack(data), 4)[2])
        return ""

    def _death(self) -> str:
        """Return how the process ended, in words."""
        process = self._process
        assert process is not None
        with suppress(subprocess.TimeoutExpired):
            process.wait(1.0)
        code = process.returncode
        self.close()
        number = -code if code is not None and code < 0 else (code or 0) - 128
        if number == signal.SIGSYS:
            return "it asked the system for what a body may not have (SIGSYS)"
        if 0 < number < 65:
            return f"its process was ended by {signal.Signals(number).name}"
        return "its process ended"


def _array(value: Any, length: int | None = None) -> list[Any]:
    items = cast("list[Any]", value)
    if not isinstance(value, list) or (length is not None and len(items) != length):
        raise Unreadable("its answer has another form")
    return items


def _error(value: Any) -> tuple[str, str]:
    kind, message = _array(value, 2)
    if not isinstance(kind, str) or not isinstance(message, str):
        raise Unreadable("its answer has another form")
    return kind[:80], message[:400]


def _spent(pid: int) -> float:
    """Return the processor time of a process and all below it, in seconds."""
    ticks, queue = 0, [str(pid)]
    while queue:
        folder = Path("/proc", queue.pop())
        with suppress(OSError, ValueError, IndexError):
            fields = (folder / "stat").read_text("ascii", "replace").rpartition(")")[2].split()
            ticks += int(fields[11]) + int(fields[12])
            for task in (folder / "task").iterdir():
                queue += (task / "children").read_text("ascii").split()
    return ticks / _TICKS
