"""The inside of the box: imports pytest and hypothesis once, then forks for each job.

A line of JSON on standard input is a job ``{"id", "root", "tests", "seconds", "memory", "processes"}``; a line on
standard output is its result ``{"id", "state", "tests": [{"name", "outcome", "message"}], "lines", "seconds"}``. A
job with ``"lines"`` is told how many lines of the sources ran, and how many there are. Each job runs in a child of
its own with limits on time, memory, processes, file size and open files, and with a filter of system calls: it
starts no process and no thread, runs no program, opens no socket. That holds for root too, whom the kernel's
process limit does not bind. Stands alone: nothing of the tool is imported in here.
"""

# pyright: basic
# ruff: noqa: PTH118, PTH123, SIM105, SIM115
# Standard library only: this file is copied to where the tool itself is not.
import ctypes
import json
import os
import platform
import resource
import signal
import sys
import time


class _Collector:
    """What pytest says of each test, without code: the last line of the message is the promise that broke."""

    def __init__(self):
        self.results = []

    def pytest_runtest_logreport(self, report):
        if report.when == "call" or report.outcome == "failed":
            message = ""
            if report.failed:
                crash = getattr(report.longrepr, "reprcrash", None)
                message = crash.message if crash is not None else str(report.longrepr)[-400:]
            name = report.nodeid.partition("::")[2].partition("[")[0]
            self.results.append({"name": name, "outcome": report.outcome, "message": message[:1500]})

    def pytest_collectreport(self, report):
        if report.failed:
            self.results.append({"name": "collection", "outcome": "failed", "message": str(report.longrepr)[-600:]})


#: By machine: the kernel's name for it, and the calls that are refused: new processes and threads, programs,
#: sockets, and looking into other processes.
_REFUSED = {
    "x86_64": (0xC000003E, (56, 57, 58, 435, 59, 322, 41, 42, 49, 101, 310, 311)),
    "aarch64": (0xC00000B7, (220, 435, 221, 281, 198, 203, 200, 117, 270, 271)),
}


def _filter_calls():
    """Put a seccomp filter on this process and its children; return whether the machine has one."""
    known = _REFUSED.get(platform.machine())
    if known is None:
        return False
    architecture, numbers = known
    load, equal, at_least, give = 0x20, 0x15, 0x35, 0x06
    refuse, allow, kill = 0x00050001, 0x7FFF0000, 0x80000000
    rules = [(load, 0, 0, 4), (equal, 1, 0, architecture), (give, 0, 0, kill), (load, 0, 0, 0)]
    # Numbers with the x32 bit name the same calls again.
    rules += [(at_least, 0, 1, 0x40000000), (give, 0, 0, refuse)]
    for number in numbers:
        rules += [(equal, 0, 1, number), (give, 0, 0, refuse)]
    rules.append((give, 0, 0, allow))

    class Instruction(ctypes.Structure):
        _fields_ = [("code", ctypes.c_ushort), ("jt", ctypes.c_ubyte), ("jf", ctypes.c_ubyte), ("k", ctypes.c_uint)]

    class Program(ctypes.Structure):
        _fields_ = [("len", ctypes.c_ushort), ("filter", ctypes.POINTER(Instruction))]

    array = (Instruction * len(rules))(*[Instruction(*rule) for rule in rules])
    program = Program(len(rules), array)
    libc = ctypes.CDLL(None, use_errno=True)
    return libc.prctl(38, 1, 0, 0, 0) == 0 and libc.prctl(22, 2, ctypes.byref(program), 0, 0) == 0


def _limits(job):
    seconds = int(job["seconds"]) + 1
    for limit, value in (
        (resource.RLIMIT_CPU, seconds),
        (resource.RLIMIT_AS, job["memory"]),
        (resource.RLIMIT_FSIZE, 4 << 20),
        (resource.RLIMIT_NOFILE, 64),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_NPROC, job["processes"]),
    ):
        hard = resource.getrlimit(limit)[1]
        value = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(limit, (value, value))


def _child(job, pipe):
    os.setsid()
    null = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(null, stream)
    sys.stdout = sys.stderr = open(os.devnull, "w")
    _limits(job)
    _filter_calls()
    os.chdir(job["root"])
    if job.get("examples"):
        os.environ["CRITICALITY_EXAMPLES"] = str(job["examples"])
    sys.path[:0] = [os.path.join(job["root"], "src"), os.path.join(job["root"], "tests")]
    collector = _Collector()
    seen = _watch_lines(job["root"]) if job.get("lines") else None
    import pytest

    arguments = ["-q", "-x"] if job.get("stop_early") else ["-q"]
    arguments += ["-p", "no:cacheprovider", "-p", "no:faulthandler", "--assert=plain"]
    arguments += ["--rootdir", job["root"], "--import-mode=importlib"]
    arguments += ["-c", os.devnull, *job["tests"]]
    pytest.main(arguments, plugins=[collector])
    sys.settrace(None)
    with os.fdopen(pipe, "w") as out:
        json.dump({"tests": collector.results, "lines": _count_lines(job["root"], seen)}, out)
        out.flush()
    os._exit(0)


def _watch_lines(root):
    """Which lines of the sources run, from now on."""
    sources, seen = os.path.join(root, "src") + os.sep, set()

    def line(frame, event, argument):
        seen.add((frame.f_code.co_filename, frame.f_lineno))
        return line

    def call(frame, event, argument):
        return line(frame, event, argument) if frame.f_code.co_filename.startswith(sources) else None

    sys.settrace(call)
    return seen


def _count_lines(root, seen):
    """Count the lines of the sources that ran, and those that can."""
    if seen is None:
        return None
    known = set()
    for folder, _, names in os.walk(os.path.join(root, "src")):
        for path in (os.path.join(folder, name) for name in names if name.endswith(".py")):
            with open(path, encoding="utf-8") as file:
                codes = [compile(file.read(), path, "exec")]
            while codes:
                code = codes.pop()
                known |= {(path, number) for _, _, number in code.co_lines() if number}
                codes += [part for part in code.co_consts if hasattr(part, "co_lines")]
    return [len(known & seen), len(known)]


def _read(pipe, deadline):
    """Read all that comes before the deadline; None where it passes first."""
    import select

    parts = []
    while True:
        left = deadline - time.monotonic()
        if left <= 0 or not select.select([pipe], [], [], left)[0]:
            return None
        part = os.read(pipe, 1 << 16)
        if not part:
            return b"".join(parts)
        parts.append(part)


def run(job):
    """One job in a child; its end is certain."""
    begun = time.monotonic()
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.close(reading)
            _child(job, writing)
        except BaseException:
            os._exit(70)
    os.close(writing)
    data = _read(reading, begun + job["seconds"])
    os.close(reading)
    for target in (lambda: os.killpg(child, signal.SIGKILL), lambda: os.kill(child, signal.SIGKILL)):
        try:
            target()
        except OSError:
            pass
    status = os.waitpid(child, 0)[1]
    state, told = "done", {"tests": [], "lines": None}
    if data is None:
        state = "timeout"
    else:
        try:
            told = json.loads(data)
        except ValueError:
            state = "cpu" if os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGXCPU else "died"
    return {"id": job["id"], "state": state, **told, "seconds": round(time.monotonic() - begun, 3)}


def _warm():
    """Import and build once what every job needs, tables of characters above all."""
    import hypothesis
    import pytest
    from hypothesis import strategies as st

    everything = st.tuples(
        st.text(),
        st.integers(),
        st.integers(0, 9),
        st.lists(st.booleans(), max_size=3),
        st.text(alphabet="ab"),
        st.floats(-1, 1),
        st.decimals(0, 1, places=2),
        st.uuids(),
        st.dates(),
        st.datetimes(),
        st.binary(),
    )
    quiet = hypothesis.settings(max_examples=20, database=None, deadline=None, derandomize=True)
    test = quiet(hypothesis.given(everything)(lambda value: None))
    test()
    pytest.main(["--version"], plugins=[_Collector()])


def main():
    """Serve jobs until the pipe closes."""
    sys.dont_write_bytecode = True
    out = os.dup(1)
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 1)
    _warm()
    sys.stdout.flush()
    os.dup2(out, 1)
    sys.stdout.write(json.dumps({"ready": True}) + "\n")
    sys.stdout.flush()
    for line in sys.stdin:
        sys.stdout.write(json.dumps(run(json.loads(line))) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
