"""The program inside a box: process 1 of its namespace, which runs commands, moves files, and ends what it started.

It is handed to the box as text and runs alone, with the standard library of whatever Python 3.9 or later the box
has; nothing here is imported by the kernel. A frame, either way, is one line of JSON whose ``blob`` says how many
raw bytes follow.

It is no boundary: who takes it over has gained nothing but his own box. It keeps itself unreadable to the other
processes all the same, so that what the kernel hears is what happened.
"""

# pyright: basic
# ruff: noqa: PTH101, PTH103, PTH114, PTH115, PTH118, PTH120, PTH123, PTH208, UP031, SIM105
# It runs alone in the box, under whatever Python is there, on data of any shape; every import costs each attempt.

from __future__ import annotations

import ctypes
import io
import json
import os
import resource
import selectors
import shutil
import signal
import stat
import subprocess
import sys
import tarfile
import time

_TICK, _SHORT_TICK = 0.01, 0.005
_DEEPEST = 200
_SHARED = "/dev/shm"
_ARGUMENTS = 200
_BLOCK = 65536
_PR_SET_DUMPABLE = 4
_TICKS = os.sysconf("SC_CLK_TCK")
# What a socket may hold where its buffer is as large as systems make it.
_MOST_BUFFERED = 212992
LIBC = ctypes.CDLL(None)


class Refused(Exception):
    """An operation that cannot be done; the kind is a name the kernel knows."""

    def __init__(self, kind, message):
        super().__init__(message)
        self.kind = kind


def main():
    """Answer frames until the kernel hangs up."""
    LIBC.prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)
    # The kernel keeps from process 1 every signal of its own box that it has no handler for; Python has this one.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    inbound, outbound = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    quiet = os.open(os.devnull, os.O_RDWR)
    os.dup2(quiet, 0)
    os.dup2(quiet, 1)
    limits = json.loads(sys.argv[1])
    os.makedirs(limits["work"], exist_ok=True)
    send(outbound, {"ready": True, "python": sys.version.split()[0]})
    while True:
        line = inbound.readline()
        if not line:
            return
        request = json.loads(line)
        blob = inbound.read(request.get("blob", 0))
        try:
            answer, data = OPERATIONS[request["op"]](request, blob, limits)
        except Exception as fault:  # whatever a name, a tree or an archive is made of, the box lives on
            kind = fault.kind if isinstance(fault, Refused) else type(fault).__name__
            message = str(getattr(fault, "strerror", None) or fault).encode("ascii", "backslashreplace").decode()
            answer, data = {"refused": kind, "message": message[:300]}, b""
        send(outbound, answer, data)


def send(stream, answer, data=b""):
    """Write one frame."""
    answer["blob"] = len(data)
    stream.write(json.dumps(answer).encode() + b"\n" + data)
    stream.flush()


def run(request, stdin, limits):
    """Run one command to its end, or to the end of its limits; whatever it left running is killed."""
    watch = Watch(limits, request)
    try:
        process = subprocess.Popen(
            request["argv"], cwd=os.path.join(limits["work"], request.get("cwd") or "."),
            env={**limits["environment"], **(request.get("env") or {})}, start_new_session=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            preexec_fn=lambda: restrain(limits, request.get("processor") or request["timeout"]),
        )  # fmt: skip
    except (OSError, subprocess.SubprocessError, ValueError) as fault:
        code = 126 if isinstance(fault, PermissionError) else 127
        return {"code": code, "stdout": 0, "ended": ""}, (str(fault) + "\n").encode("utf-8", "replace")
    try:
        out, err = watch.follow(process, stdin)
    finally:
        end_all()
    code = process.wait()
    reap()
    return {"code": code, "stdout": len(out), "ended": watch.ended}, bytes(out) + bytes(err)


def restrain(limits, processor):
    """Set the limits of the command and all its descendants, which leave the supervisor its turn."""
    os.nice(5)
    # Where the kernel must end something for want of memory, it is a command; only who may be seen can say so.
    LIBC.prctl(_PR_SET_DUMPABLE, 1, 0, 0, 0)
    with open("/proc/self/oom_score_adj", "w") as adjustment:
        adjustment.write("1000")
    for name, value in {**limits["each"], "CPU": int(processor) + 1}.items():
        kind = getattr(resource, "RLIMIT_" + name)
        _, hard = resource.getrlimit(kind)
        value = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(kind, (value, value))


class Watch:
    """Follows a running command and ends it when it takes too much; ``ended`` says of what."""

    def __init__(self, limits, request):
        self.ended = ""
        self.close = False
        self.limits = limits
        # Where there are too many already, a command may still take some away.
        self.most = {name: max(limits["inodes"], files(name)) for name in (limits["home"], "/tmp", _SHARED)}
        self.deadline = time.monotonic() + request["timeout"]
        self.processor = request.get("processor") and request["processor"] + spent()
        self.room = min(request["output"], limits["output"])

    def follow(self, process, stdin):
        """Feed stdin and gather output until the command is over."""
        gathered = {"out": bytearray(), "err": bytearray()}
        with selectors.DefaultSelector() as selector:
            selector.register(process.stdout, selectors.EVENT_READ, "out")
            selector.register(process.stderr, selectors.EVENT_READ, "err")
            pending = memoryview(stdin)
            if pending:
                os.set_blocking(process.stdin.fileno(), False)
                selector.register(process.stdin, selectors.EVENT_WRITE, "in")
            else:
                process.stdin.close()
            tick = 0.002
            while not over(process.pid):
                for key, _ in selector.select(tick):
                    if key.data == "in":
                        pending = feed(selector, process.stdin, pending)
                    else:
                        self.gather(selector, key.fileobj, gathered[key.data])
                tick = min(_SHORT_TICK if self.close else _TICK, tick * 2)
                self.ended = self.ended or self.excess()
                if self.ended:
                    break
            end_all()
            for name, pipe in (("out", process.stdout), ("err", process.stderr)):
                if pipe.fileno() in selector.get_map():
                    while self.gather(selector, pipe, gathered[name]):
                        pass
        for pipe in (process.stdin, process.stdout, process.stderr):
            try:
                pipe.close()
            except OSError:
                pass
        return gathered["out"], gathered["err"]

    def gather(self, selector, pipe, into):
        """Take what is there; false at the end of the stream or of what may be said."""
        data = os.read(pipe.fileno(), _BLOCK)
        if not data:
            selector.unregister(pipe)
            return False
        into += data[: self.room]
        self.room -= len(data)
        if self.room < 0:
            self.room = 0
            self.ended = self.ended or "output"
            return False
        return True

    def excess(self):
        """Return which limit is exceeded now, if any."""
        if time.monotonic() > self.deadline or (self.processor and spent() > self.processor):
            return "time"
        held = resident(self.limits["open_files"])
        self.close = held > self.limits["memory"] / 4
        if held > self.limits["memory"]:
            return "memory"
        return "files" if any(files(folder) > most for folder, most in self.most.items()) else ""


def files(folder):
    """Return how many files and folders a file system holds."""
    usage = os.statvfs(folder)
    return usage.f_files - usage.f_ffree


def spent():
    """Return the seconds of a processor that the other processes have used, and those that have ended before them."""
    ended, ticks = resource.getrusage(resource.RUSAGE_CHILDREN), 0
    for pid in others():
        try:
            with open("/proc/%d/stat" % pid, "rb") as status:
                # Its own time and that of its children, behind a name that may hold blanks and brackets.
                ticks += sum(map(int, status.read().rpartition(b")")[2].split()[11:15]))
        except OSError:
            continue
    return ended.ru_utime + ended.ru_stime + ticks / _TICKS


def feed(selector, pipe, pending):
    """Write some of stdin; a command that does not read it is no fault."""
    try:
        pending = pending[os.write(pipe.fileno(), pending[:_BLOCK]) :]
    except BlockingIOError:
        return pending
    except BrokenPipeError:
        pending = pending[:0]
    if not pending:
        selector.unregister(pipe)
        pipe.close()
    return pending


def over(pid):
    """Tell whether the command has ended; orphans of it that ended are reaped on the way."""
    while True:
        ended = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        if ended is None:
            return False
        if ended.si_pid == pid:
            return True
        os.waitpid(ended.si_pid, 0)


def others():
    """Yield the processes of this box besides this one."""
    return [int(name) for name in os.listdir("/proc") if name.isdigit() and int(name) != os.getpid()]


def resident(descriptors):
    """Return the bytes of memory that the other processes hold, swapped out and in page tables too.

    What the kernel holds for a descriptor, such as the buffers of a socket, is nobody's: beyond some descriptors
    for all processes together, each counts as much as it may hold.
    """
    total, many = 0, 0
    for pid in others():
        try:
            with open("/proc/%d/status" % pid, "rb") as status:
                for line in status:
                    if line.startswith((b"VmRSS:", b"VmSwap:", b"VmPTE:")):
                        total += int(line.split()[1]) * 1024
        except (OSError, IndexError, ValueError):
            continue
        try:
            many += len(os.listdir("/proc/%d/fd" % pid))
        except PermissionError:
            many += descriptors
        except OSError:
            continue
    return total + max(0, many - 4 * descriptors) * _MOST_BUFFERED


def end_all():
    """Kill every other process of the box; one call reaches all, forks in flight included."""
    try:
        os.kill(-1, signal.SIGKILL)
    except ProcessLookupError:
        pass


def reap():
    """Collect what was killed."""
    while True:
        try:
            os.waitpid(-1, 0)
        except ChildProcessError:
            return


def place(path, limits):
    """Return a path as commands see it: relative ones start at the work folder."""
    try:
        sound = path and b"\0" not in path.encode()
    except UnicodeEncodeError:
        sound = False
    if not sound:
        raise Refused("BadPath", "a path is text without a null byte or half a character")
    return os.path.join(limits["work"], path)


def write(request, blob, limits):
    """Write a whole file, folders on its way included."""
    path = place(request["path"], limits)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_NONBLOCK | os.O_CLOEXEC, 0o644)
    with os.fdopen(handle, "wb") as file:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise Refused("NotAFile", "not a regular file")
        file.truncate(0)
        file.write(blob)
    if request.get("executable"):
        os.chmod(path, 0o755)
    return {}, b""


def read(request, _, limits):
    """Read a whole regular file."""
    handle = os.open(place(request["path"], limits), os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(handle, "rb") as file:
        kind = os.fstat(handle).st_mode
        if stat.S_ISDIR(kind):
            raise Refused("IsADirectoryError", "is a directory")
        if not stat.S_ISREG(kind):
            raise Refused("NotAFile", "not a regular file")
        data = file.read(request["cap"] + 1)
    if len(data) > request["cap"]:
        raise Refused("TooLarge", "larger than %d bytes" % request["cap"])
    return {}, data


def pack(_, __, limits):
    """End every process, then copy the work folder out: regular files, no link followed, in one fixed order."""
    end_all()
    reap()
    out = io.BytesIO()
    root = limits["work"]
    with tarfile.open(fileobj=out, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for path in sorted(walk(root)):
            if out.tell() + os.lstat(path).st_size > limits["archive"]:
                raise Refused("TooLarge", "the work folder is larger than %d bytes" % limits["archive"])
            add(archive, path, os.path.relpath(path, root))
    return {}, out.getvalue()


def walk(root):
    """Yield files and links below ``root``, without entering links; of folders that are closed nothing."""
    folders = [(root, 0)]
    while folders:
        folder, depth = folders.pop()
        if depth > _DEEPEST:
            raise Refused("TooLarge", "folders lie more than %d deep in the work folder" % _DEEPEST)
        try:
            entries = list(os.scandir(folder))
        except PermissionError:
            continue
        nested = [entry.path for entry in entries if entry.is_dir(follow_symlinks=False)]
        folders += [(path, depth + 1) for path in nested]
        yield from {entry.path for entry in entries}.difference(nested)


def add(archive, path, name):
    """Add one entry; a link is recorded as a link, a socket or pipe or device not at all."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        if os.path.islink(path):
            entry = tarfile.TarInfo(name)
            entry.type, entry.linkname = tarfile.SYMTYPE, os.readlink(path)
            archive.addfile(entry)
        return
    with os.fdopen(handle, "rb") as file:
        status = os.fstat(handle)
        if stat.S_ISREG(status.st_mode):
            entry = tarfile.TarInfo(name)
            entry.size = status.st_size
            entry.mode = 0o755 if status.st_mode & 0o100 else 0o644
            archive.addfile(entry, file)


def unpack(request, blob, limits):
    """Put an archive's regular files into the work folder, which is emptied first unless it is laid on top."""
    if not request.get("overlay"):
        end_all()
        reap()
        for folder in (limits["home"], "/tmp", _SHARED):
            left = [os.path.join(folder, name) for name in os.listdir(folder)]
            # However deep they lie, which is more than can be said of what Python has for it.
            for start in range(0, len(left), _ARGUMENTS):
                some = left[start : start + _ARGUMENTS]
                subprocess.run(["chmod", "-R", "u+rwX", "--", *some], check=False, stderr=subprocess.DEVNULL)
                if subprocess.run(["rm", "-rf", "--", *some], check=False).returncode:
                    raise Refused("NotEmptied", "%s cannot be emptied" % folder)
        os.makedirs(limits["work"])
    with tarfile.open(fileobj=io.BytesIO(blob), mode="r:") as archive:
        for entry in archive:
            if not entry.isreg() or entry.name.startswith("/") or ".." in entry.name.split("/"):
                continue
            target = os.path.join(limits["work"], entry.name)
            os.makedirs(os.path.dirname(target), exist_ok=True)
            with open(target, "wb") as file:
                shutil.copyfileobj(archive.extractfile(entry), file)  # pyright: ignore[reportArgumentType] - a regular entry has content
            os.chmod(target, entry.mode & 0o755 | 0o600)
    return {}, b""


OPERATIONS = {"run": run, "write": write, "read": read, "pack": pack, "unpack": unpack}

if __name__ == "__main__":
    main()
