"""Bodies served from a sealed process: how it is started, what is said over its pipes, and how a call may end.

The process holds sources alone, no contract and no case: a body can reach neither its judge nor its questions.

**Frames** (:mod:`sandbox.serving`), both ways over standard input and output: one MessagePack value each.

- After it has warmed up and sealed itself, the process sends ``[0, 0, seal, nil]``: ``seal`` says in words what
  holds it from the inside (``"seccomp"``), or is empty.
- Request ``[id, name, args]``: ``id`` is 63 random bits, ``name`` is ``module.function`` as the plan has it.
- Answer ``[id, status, value, trace]``. Status 0: returned ``value``. Status 1: raised, ``value`` is
  ``[error, message]``, the error by the name that the specification has for it, or else by the language's own.
  Status 2: it changed an argument; ``value`` is the parameter's name. Status 3: the language has no such argument
  (``2 ** 64`` where whole numbers have 64 bits); ``value`` says why.
- ``trace``: ``[name, args, status, value]`` for each call that the body itself made to another function of the
  project (not the calls which those made in turn), in order; ``nil`` where it would be larger than
  1 MiB, in Python 256 KiB.

A name with ``#work`` behind it asks for the work of that call instead of its result: status 0 and an int, the steps
of an interpreter, or the nanoseconds of the fastest of five tries; status 1 where it raised.

The name ``#places`` is no function: the first time the process begins to watch which places of the bodies run,
after that it answers with ``#module.function ran there`` for each function, in numbers of places, and
``module.function text`` for each place that did not run, all texts; status 1 where it cannot.

**Values**: nil, bool, int (beyond 64 bits ext 1: decimal digits), float64, str, bin. A list, set, tuple and record
is an array (a record's in the order of its fields, a set's in any order); a map is ext 5 holding an array of
``[key, value]``; an enum is its member's name as the specification has it; ``Option`` is nil or the value; a
``Result`` is its value; ``UUID`` is str; Decimal is ext 2 (text); Date and Timestamp are ext 3 (ISO 8601); ext 4 is
a duration (nanoseconds as int64, big endian). Both sides know the types from the specification.

The process is started once for each variant of the bodies, with the variant's number as its last argument. It ends
when its input closes. What is no answer to the request ends it: another id, a frame over 8 MiB, 2 s, its death.
"""

from __future__ import annotations

import secrets
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from pathlib import Path
from typing import Any, cast

from criticality.judging.building import BuildFailed, ServedProgram, faulty, without
from criticality.judging.outcomes import Call, Died, NoSuchValue, Outcome, Raised, Returned
from criticality.judging.patience import uncut
from criticality.judging.wire import Codec, Unreadable, pack, unpack
from llm_runtime.errors import ConfigurationError
from sandbox import NONE, OF_OURS, BoxLimits, Gone, NoIsolation, Order, Root, Served, backend, run_now

START_S = 30.0
_AT_ONCE = 32 << 10
#: Arguments of so many bytes double the time that a call has: what is asked of much takes longer, and no clause says
#: how long. Nothing gets more than ten times as much.
_ORDINARY, _LONGER = 4 << 10, 10
#: What languages call it when there is no more memory.
_NO_MEMORY = ("MemoryError", "OutOfMemoryError", "bad_alloc")
#: A build, which is not what is distrusted.
BUILDING = OF_OURS.model_copy(update={"processes": 512, "disk": 1 << 30, "seconds": 180})
#: A solver, which runs bodies; it ends after ten seconds of processor time.
_SOLVING = BoxLimits(processes=1024, memory=1 << 30, disk=1 << 20, seconds=60)


class Place(AbstractContextManager["Place"]):
    """A folder with a program's files, built; :meth:`serve` starts its variants. Use it as ``with``.

    Args:
        limit: seconds of processor time for one call with little in its arguments.
        isolated: in a sandbox, whatever a person has said.

    Raises:
        ConfigurationError: there is no sandbox here.
    """

    def __init__(self, program: ServedProgram, codec: Codec, *, limit: float = 2.0, isolated: bool = False) -> None:
        self.program, self.codec, self.limit = program, codec, limit
        try:
            self.by = backend(bare=not isolated).name
        except NoIsolation as fault:
            raise ConfigurationError(str(fault)) from None
        self._temporary = tempfile.TemporaryDirectory(prefix="served-", ignore_cleanup_errors=True)
        self.folder = Path(self._temporary.name)
        self.folder.chmod(0o755)
        #: Variants that do not compile.
        self.unbuilt: set[int] = set()
        self._write(program.files)

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
                files = {path: without(text, faults, self.program.todo) for path, text in files.items()}
                self._write(files)

    def _write(self, files: Mapping[str, str]) -> None:
        for path, text in files.items():
            target = self.folder / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text, "utf-8")

    def _build(self, seconds: float) -> None:
        limits = BUILDING.model_copy(update={"seconds": seconds})
        for command in self.program.build:
            ended = run_now(self._order(command, limits, building=True), by=self.by)
            if ended.ended:
                raise BuildFailed(f"the build took more than {seconds:g} s" if ended.ended == "time" else ended.ended)
            if ended.code:
                raise BuildFailed(ended.text[:200_000])

    def serve(self, variant: int = 0) -> Process:
        """Start one variant."""
        return Process(self, variant)

    def started(self, variant: int) -> Served:
        """Return a process of one variant, which may not be ready yet."""
        memory = self.program.memory or BUILDING.address_space
        limits = BoxLimits(processes=1024, open_files=1024, disk=1 << 20, address_space=memory)
        return Served(self._order((*self.program.command, str(variant)), limits), by=self.by)

    def solve(self, question: bytes) -> str | None:
        """Return what the program's solver prints of variant 0; ``None`` where there is no box: it runs bodies."""
        if self.by == NONE:
            return None
        return run_now(self._order(self.program.solver, _SOLVING), stdin=question, apart=True, by=self.by).text

    def _order(self, command: tuple[str, ...], limits: BoxLimits, *, building: bool = False) -> Order:
        program = self.program
        return Order(
            command, limits, str(self.folder), Root(whole=True), environment=program.environment,
            readable=(*interpreter(), *program.read_only, *(() if building else (self.folder,))),
            writable=(self.folder, *program.shared) if building else (),
            python=sys.executable, confined=program.confined and not building,
        )  # fmt: skip


def interpreter() -> list[Path]:
    """Return what our own interpreter stands in."""
    prefixes = {sys.prefix, sys.base_prefix, *(str(Path(p).resolve()) for p in (sys.prefix, sys.base_prefix))}
    return [Path(prefix) for prefix in sorted(prefixes)]


class Process(AbstractContextManager["Process"]):
    """One process that serves one variant; started by its first call, and again after it died."""

    def __init__(self, place: Place, variant: int) -> None:
        self._place, self._variant = place, variant
        self._served: Served | None = None
        #: What the process says that it is held by from the inside.
        self.seal = ""

    def __exit__(self, *exc: object) -> None:
        self.close()

    def close(self) -> None:
        """End the process and all that it started."""
        served, self._served = self._served, None
        if served is not None:
            served.close()

    def call(self, name: str, args: Sequence[Any]) -> Outcome:
        """Call one function and wait for how it ends."""
        return self.call_packed(name, self._packed(name, args))

    def work(self, name: str, args: Sequence[Any]) -> int | None:
        """Return how much work a call takes: 0 where it ends in an error of its own, ``None`` where it does not end."""
        outcome = self.call(f"{name}#work", args)
        lawful = isinstance(outcome, Raised) and outcome.kind in self._place.codec.functions[name].errors
        return outcome.value if isinstance(outcome, Returned) else 0 if lawful else None

    def call_packed(self, name: str, packed: bytes) -> Outcome:
        """Call one function with arguments that are bytes of the wire already."""
        with uncut():
            return next(self.call_many_packed([(name, packed)]))

    def call_many(self, calls: Iterable[tuple[str, Sequence[Any]]]) -> Iterator[Outcome]:
        """Yield how each call ends, in order; others are on their way meanwhile. It stops after a death."""
        return self.call_many_packed((name, self._packed(name, args)) for name, args in calls)

    def _packed(self, name: str, args: Sequence[Any]) -> bytes:
        return pack(self._place.codec.request(name, args))

    def call_many_packed(self, calls: Iterable[tuple[str, bytes]]) -> Iterator[Outcome]:
        """Yield likewise how calls end whose arguments are bytes of the wire already."""
        waiting: list[tuple[int, str, int]] = []
        held, source = 0, iter(calls)
        pending = next(source, None)
        while True:
            frames: list[bytes] = []
            # Many go at once, so that neither side waits for the other at each.
            while pending is not None and (not waiting or held + len(pending[1]) < _AT_ONCE):
                identity = secrets.randbits(63)
                frames.append(b"\x93" + pack(identity) + pack(pending[0]) + pending[1])
                waiting.append((identity, pending[0], len(frames[-1])))
                held, pending = held + len(frames[-1]), next(source, None)
            if frames and (fault := self._send(frames)):
                yield Died(fault)
                return
            if not waiting:
                return
            identity, name, size = waiting.pop(0)
            held -= size
            outcome = self._answer(identity, name, size)
            yield outcome
            if isinstance(outcome, Died):
                return

    def _send(self, frames: Sequence[bytes]) -> str:
        """Send requests, to a new process where there is none; why that cannot be done, if so."""
        try:
            if self._served is None:
                self._start()
            assert self._served is not None
            self._served.send(10 * self._place.limit, *frames)
        except Gone as fault:
            self.close()
            return str(fault)
        return ""

    def _answer(self, identity: int, name: str, size: int) -> Outcome:
        assert self._served is not None
        try:
            data = self._served.receive(self._place.limit * min(_LONGER, 1 + size / _ORDINARY))
        except Gone as fault:
            self.close()
            return Died(str(fault))
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

    def _start(self) -> None:
        try:
            self._served = self._place.started(self._variant)
            data = self._served.receive(START_S)
        except (Gone, NoIsolation) as fault:
            raise Gone(f"no process for bodies starts here ({fault}); run: criticality doctor") from None
        with suppress(Unreadable):
            self.seal = str(_array(unpack(data), 4)[2])


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
