"""What runs in the box: it starts a test command, watches it, and says what came of it, as one JSON object.

``python probe.py``, told by its input, is the parent: whoever runs below it never holds its standard output, and what a test
process reports counts where it carries the run's own mark and says what its exit code says. As a plugin of pytest
(``-p assay_probe``) it is the child's end: what tests came to, what ran, with which types, and what a witness does
that it may not. Stands alone: it is handed to the box as text, and runs under whatever Python is there.
"""

# pyright: basic
import faulthandler
import glob
import importlib.util
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time

_SPOKEN, _MOST, _TYPES = 1 << 16, 4000, 12
_STDLIB = os.path.dirname(os.__file__)
_EXPLICIT = re.compile(r"\b(raise|assert|warn\w*|fail|exit|abort)\b|raise_")
_LOUD = ("subprocess.", "os.system", "os.exec", "os.fork", "os.posix_spawn", "os.spawn", "os.kill", "os.putenv",
         "pty.", "socket.connect", "socket.bind", "ctypes.", "gc.get", "sys.settrace", "sys.setprofile", "os.rename",
         "os.remove", "os.mkdir", "os.rmdir", "os.link", "os.symlink", "os.truncate", "os.chmod", "shutil.")  # fmt: skip
_OPEN = ("open", "os.listdir", "os.scandir", "os.open")


def parent(wanted):
    """Run a command to its end or its time, and return what came of it and of its reports."""
    begun, mark = time.monotonic(), os.urandom(16).hex()
    read, write = os.pipe()
    environment = dict(wanted["environment"], ASSAY_PROBE=json.dumps(dict(wanted["child"], mark=mark, to=write)))
    for name, word in (("pytest_cov", "--no-cov"), ("xdist", "-n0")):
        if wanted["child"]["tests"] and "no:" + name not in wanted["command"] and importlib.util.find_spec(name):
            wanted["command"].append(word)
    with tempfile.TemporaryFile() as said:
        child = subprocess.Popen(
            wanted["command"], pass_fds=[write], stdin=subprocess.DEVNULL, stdout=said, stderr=subprocess.STDOUT,
            env=environment, start_new_session=True,
        )  # fmt: skip
        os.close(write)
        heard = []
        ear = threading.Thread(target=_hear, args=(read, heard), daemon=True)
        ear.start()
        ended = ""
        try:
            child.wait(wanted["seconds"])
        except subprocess.TimeoutExpired:
            ended = "time"
        try:
            os.killpg(child.pid, signal.SIGKILL)
        except OSError:
            pass
        child.wait()
        ear.join(2)
        said.seek(0, 2)
        said.seek(max(0, said.tell() - wanted["most"]))
        out = said.read().decode("utf-8", "replace")
    reports, hung = [], []
    for line in b"".join(heard).decode("utf-8", "replace").splitlines():
        if line.startswith(mark + " "):
            reports.append(json.loads(line[len(mark) :]))
        else:
            hung.append(line)
    cover = [line for place in glob.glob(wanted["cover"]) for line in covered(place, wanted["child"]["root"])]
    return {"code": child.returncode, "ended": ended, "out": out, "reports": reports, "hung": hung,
            "cover": cover, "seconds": round(time.monotonic() - begun, 3)}  # fmt: skip


def covered(place, root):
    """Return file, first and last line of what ran, by a profile of Go's or a coverage of V8's."""
    with open(place, errors="replace") as file:
        text = file.read()
    found = re.findall(r"^(\S+):(\d+)\.\d+,(\d+)\.\d+ \d+ [1-9]", text, re.M)
    lines = [(path, int(first), int(last)) for path, first, last in found]
    for script in json.loads(text)["result"] if text[:1] == "{" else ():
        path = script["url"].replace("file://", "")
        if path.startswith(root + os.sep) and "node_modules" not in path and os.path.isfile(path):
            with open(path, errors="replace") as file:
                source = file.read()
            counts = [0] * len(source)
            for one in (span for function in script["functions"] for span in function["ranges"]):
                counts[one["startOffset"] : one["endOffset"]] = [one["count"]] * (
                    one["endOffset"] - one["startOffset"]
                )
            at = 0
            for number, line in enumerate(source.split("\n"), 1):
                if any(counts[at + step] for step, sign in enumerate(line) if not sign.isspace()):
                    lines.append((path[len(root) + 1 :], number, number))
                at += len(line) + 1
    return lines


def _hear(read, heard):
    while True:
        part = os.read(read, _SPOKEN)
        if not part:
            return
        if sum(map(len, heard)) < 64 * _SPOKEN:
            heard.append(part)


class Probe:
    """The plugin."""

    def __init__(self, wanted):
        self.root, self.watch, self.mine = wanted["root"] + os.sep, set(wanted["watch"]), set(wanted["mine"])
        self.limit, self.backwards = wanted["seconds"], wanted["backwards"]
        self._mark, self._to = wanted["mark"], wanted["to"]
        self.lines, self.ran, self.called, self.docs, self.audit = {}, {}, {}, {}, {}
        self.places, self.last, self.touched, self.inside, self.spoken = {}, set(), set(), False, 0
        self.tests = re.compile(wanted["tests"])
        self.pipe = os.fdopen(os.dup(self._to), "w")
        os.set_inheritable(self._to, False)

    def say(self, what, **more):
        self.spoken += 1
        os.write(self._to, ("%s %s\n" % (self._mark, json.dumps(dict(more, what=what)))).encode())

    def place(self, name):
        """Return a file's path in the repository; empty for one of elsewhere."""
        if name not in self.places:
            real = os.path.abspath(name) if name[:1] != "<" else ""
            inner = real[len(self.root) :] if real.startswith(self.root) else ""
            self.places[name] = "" if "site-packages" in inner or "node_modules" in inner else inner
        return self.places[name]

    def trace(self, frame, event, arg):
        code = frame.f_code
        place = self.place(code.co_filename)
        if not place or place in self.mine:
            return None
        key = place + ":" + getattr(code, "co_qualname", code.co_name)
        back = frame.f_back
        caller = self.place(back.f_code.co_filename) if back else ""
        if place in self.watch:
            self.touched.add(key)
        if not self.tests.search(place) and (
            self.tests.search(caller) or (back and back.f_code.co_filename[:8] == "<doctest")
        ):
            if caller in self.mine:
                self.last = set()
            self.arguments(key, code, frame.f_locals)
        self.last.add(key)
        if key not in self.ran and len(self.ran) < _MOST:
            self.ran[key] = code.co_firstlineno
            if code.co_consts and isinstance(code.co_consts[0], str) and code.co_name[:1] != "<":
                self.docs["%s:%d %s" % (place, code.co_firstlineno, key.partition(":")[2])] = code.co_consts[0][
                    :4000
                ]
        if place not in self.watch:
            return None
        here = self.lines.setdefault(place, set())

        def local(frame, event, arg):
            here.add(frame.f_lineno)
            return local

        return local

    def arguments(self, key, code, values):
        count = code.co_argcount + code.co_kwonlyargcount
        count += bool(code.co_flags & 4) + bool(code.co_flags & 8)
        for name in code.co_varnames[:count]:
            seen = self.called.setdefault("%s(%s)" % (key, name), set())
            if name in values and name not in ("self", "cls") and len(seen) < _TYPES:
                seen.add(kind(values[name]))

    def hook(self, event, args):
        if not self.inside or not event.startswith(_LOUD + _OPEN):
            return
        frame, deepest = sys._getframe(1), None
        while frame:
            name = frame.f_code.co_filename
            if name.startswith("<frozen importlib"):
                return
            if (
                deepest is None
                and not name.startswith((_STDLIB, "<"))
                or "site-packages" in name
                and deepest is None
            ):
                deepest = self.place(name)
            if self.place(name) in self.mine:
                break
            frame = frame.f_back
        if frame is None:
            return
        what = args[0] if args else ""
        if event.startswith(_OPEN) and not event.startswith(_LOUD):
            if not isinstance(what, (str, bytes)):
                return
            path = self.place(os.fsdecode(what))
            changed = re.sub(r"__pycache__/(\w+)\..*", r"\1.py", path) in self.watch
            if not changed and deepest not in self.mine:
                return
            what = path or os.fsdecode(what)
        self.audit["%s %s" % (event, str(what)[:200])] = 1

    # What follows are hooks of pytest's.

    def pytest_collection(self, session):
        sys.addaudithook(self.hook)
        threading.settrace(self.trace)
        sys.settrace(self.trace)

    def pytest_collection_modifyitems(self, items):
        if self.backwards:
            items.reverse()

    def pytest_collectreport(self, report):
        if report.failed:
            text = str(report.longrepr)
            told = re.findall(r"^E\s+(\w+)(?:: (.*))?$", text, re.M) or [("", "")]
            failure = {"kind": "own", "type": told[-1][0], "message": text[-2000:]}
            self.say("test", name=report.nodeid, outcome="failed", phase="collect", failure=failure)

    def pytest_runtest_logstart(self, nodeid, location):
        self.last, self.touched = set(), set()

    def pytest_runtest_call(self, item):
        self.inside = self.place(str(item.fspath)) in self.mine
        self.say("begun", name=item.nodeid)
        faulthandler.dump_traceback_later(self.limit, exit=True, file=self.pipe)

    def pytest_runtest_makereport(self, item, call):
        faulthandler.cancel_dump_traceback_later()
        self.inside, last, touched = False, sorted(self.last)[:200], sorted(self.touched)[:200]
        fault = call.excinfo
        if fault is None and call.when != "call":
            return
        outcome = "passed" if fault is None else "skipped" if fault.typename == "Skipped" else "failed"
        failure = self.failure(item, fault) if outcome == "failed" else None
        if hasattr(item, "add_marker") and any(item.iter_markers("xfail")):
            outcome = "skipped"
        self.say("test", name=item.nodeid, outcome=outcome, phase=call.when, seconds=round(call.duration, 4),
                 touches=touched, last=last, failure=failure)  # fmt: skip

    def failure(self, item, fault):
        """Return how a test failed: by what lies below its own line."""
        own, below = None, []
        for entry in fault.traceback:
            path, line = str(entry.path), entry.lineno + 1
            place = self.place(path)
            if place == self.place(str(item.fspath)):
                own, below = line, []
            elif own is not None:
                below.append((place, path, line, str(entry.statement)))
        repository = [one for one in below if one[0]]
        kind, at = "own", ""
        if issubclass(fault.type, (SystemExit, KeyboardInterrupt, OSError, MemoryError)):
            kind = "exit"
        elif repository:
            place, _, line, text = repository[-1]
            kind, at = "crash", "%s:%d" % (place, line)
            if _EXPLICIT.search(text) or issubclass(fault.type, (Warning, NotImplementedError)):
                kind = "raised"
        elif own and (fault.typename == "Failed" or issubclass(fault.type, AssertionError)):
            if all(re.search(r"[/\\](_pytest|unittest)[/\\]", one[1]) for one in below):
                kind = "assertion"
        return {"kind": kind, "test": item.nodeid, "type": fault.typename, "line": own or 0, "at": at,
                "message": str(fault.value)[:2000]}  # fmt: skip

    def pytest_sessionfinish(self, session, exitstatus):
        sys.settrace(None)
        tails = {"/" + "/".join(path.split("/")[-2:]): path for path in self.watch if path.count("/")}
        files = [str(getattr(one, "__file__", "") or "") for one in list(sys.modules.values())]
        strange = [name for name in files for tail in tails if name.endswith(tail) and not self.place(name)]
        self.say("end", code=int(exitstatus), spoken=self.spoken + 1, audit=sorted(self.audit)[:50], elsewhere=strange[:20],
                 lines={name: sorted(found)[:_MOST] for name, found in self.lines.items()}, ran=list(self.ran)[:1000],
                 called={name: sorted(found) for name, found in list(self.called.items())[:1000]},
                 docs=dict(list(self.docs.items())[:60]))  # fmt: skip


def kind(value, deep=2):
    """Return the name of a value's type, with those of what it holds."""
    name, inner = type(value).__name__, []
    if deep and isinstance(value, (list, tuple, set, frozenset)):
        inner = list(value)[:20]
    elif deep and isinstance(value, dict):
        inner = [one for pair in list(value.items())[:20] for one in pair]
    return name + ("[%s]" % "|".join(sorted({kind(one, deep - 1) for one in inner})) if inner else "")


if __name__ == "__main__":
    print(json.dumps(parent(json.load(sys.stdin))))
elif "ASSAY_PROBE" in os.environ:
    _probe = Probe(json.loads(os.environ.pop("ASSAY_PROBE")))

    def pytest_configure(config):
        """Begin to watch."""
        config.pluginmanager.register(_probe, "assay-watch")
