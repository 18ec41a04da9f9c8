"""What runs in the box: it starts a test command, watches it, and says what came of it, as one JSON object.

Started as a program, told by its input, it is the parent: whoever runs below it never holds its standard output,
and what a test process reports counts where it bears the run's mark and says what its exit code says. As a
plugin of pytest (``-p assay_probe``) it is the child's end: what tests came to, what ran, with which types, what a
witness does that it may not. Stands alone: it is handed to the box as text, under whatever Python is there.
"""

# pyright: basic
import contextlib
import dis
import faulthandler
import importlib.util
import json
import os
import pathlib
import pickle
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time

#: Places of what is told; the flag of a class that no C made.
_MOST, _WRITTEN = 4000, 1 << 9
_STDLIB = (os.path.dirname(os.__file__) + os.sep, "<")
_EXPLICIT = re.compile(r"\b(raise|assert|warn\w*|fail|exit|abort)\b|raise_")
_TOLD = (Warning, NotImplementedError, RecursionError)
#: What Python asks of anything.
_ASKED = ("__eq__", "__ne__", "__repr__", "__str__", "__bool__", "__len__")
_LOOKS = ("open", "os.listdir", "os.scandir")


def parent(wanted):
    """Run a command to its end or its time, and return what came of it and of its reports."""
    begun, mark, heard, ended, command = time.monotonic(), os.urandom(16).hex(), [], "", wanted["command"]
    for name, word in (("pytest_cov", "--no-cov"), ("xdist", "-n0")) if wanted["child"]["python"] else ():
        if "no:" + name not in command and importlib.util.find_spec(name):
            command.append(word)
    read, write = os.pipe()
    told = json.dumps(dict(wanted["child"], mark=mark, to=write))
    os.makedirs(wanted["cover"], exist_ok=True)
    with tempfile.TemporaryFile() as said:
        env = dict(wanted["environment"], ASSAY_PROBE=told)
        apart = {"stdin": subprocess.DEVNULL, "stdout": said, "stderr": said, "start_new_session": True}
        child = subprocess.Popen(command, pass_fds=[write], env=env, **apart)
        os.close(write)
        ear = threading.Thread(target=lambda: heard.extend(iter(lambda: os.read(read, 1 << 16), b"")), daemon=True)
        ear.start()
        try:
            child.wait(wanted["seconds"])
        except subprocess.TimeoutExpired:
            ended = "time"
        with contextlib.suppress(OSError):
            os.killpg(child.pid, signal.SIGKILL)
        child.wait()
        ear.join(2)
        said.seek(max(0, said.seek(0, 2) - wanted["most"]))
        out = said.read().decode("utf-8", "replace")
    lines = b"".join(heard).decode("utf-8", "replace").splitlines()
    return {"code": child.returncode, "ended": ended, "out": out, "seconds": round(time.monotonic() - begun, 3),
            "lines": list(covered(wanted["child"]["watch"], wanted["cover"])),
            "reports": [json.loads(line[len(mark) :]) for line in lines if line.startswith(mark)],
            "hung": [line for line in lines if not line.startswith(mark)]}  # fmt: skip


def covered(watch, place):
    """Yield files and lines of them that ran, as go and node write it down: it refuses a test, and proves none."""
    for name in os.listdir(place):
        text = pathlib.Path(place, name).read_text("utf-8")
        for path, first, last in re.findall(r"(?m)^(\S+):(\d+)\.\d+,(\d+)\.\d+ \d+ [1-9]\d*$", text):
            yield path, list(range(int(first), int(last) + 1))
        scripts = json.loads(text)["result"] if name.endswith(".json") else ()
        yield from ((one["url"], counted(one)) for one in scripts if one["url"].endswith(tuple(watch)))


def counted(script):
    """Return the lines of a script that V8 has counted; where an inner span begins, the line is the outer one's too."""
    source, ran = pathlib.Path(script["url"].replace("file://", "")).read_text("utf-8"), set()
    spans = [span for each in script["functions"] for span in each["ranges"]]
    for span in sorted(spans, key=lambda span: span["startOffset"] - span["endOffset"]):
        first, last = (source.count("\n", 0, span[end]) + 1 for end in ("startOffset", "endOffset"))
        ran = ran | {*range(first, last + 1)} if span["count"] else ran - {*range(first + 1, last + 1)}
    return sorted(ran & {*range(1, source.count("\n") + 1)})[:_MOST]


class PytestProbe:
    """The plugin."""

    def __init__(self, told):
        self.told, self.root = told, told["root"] + os.sep
        self.watch, self.mine = set(told["watch"]), set(told["mine"])
        self.lines, self.ran, self.called, self.docs, self.audit, self.places = {}, {}, {}, {}, {}, {}
        self.last, self.touched, self.laws, self.inside, self.spoken = set(), set(), {}, False, 0
        self.tests = re.compile(told["tests"])

    def say(self, what, **more):
        self.spoken += 1
        said = json.dumps(dict(more, what=what, spoken=self.spoken))
        os.write(self.told["to"], ("%s %s\n" % (self.told["mark"], said)).encode())

    def place(self, name):
        """Return a file's path in the repository; empty for one of elsewhere."""
        if name not in self.places:
            real = os.path.abspath(name) if name[:1] != "<" else ""
            ours = real.startswith(self.root) and "site-packages" not in real
            self.places[name] = real[len(self.root) :] if ours else ""
        return self.places[name]

    def trace(self, frame, event, arg):
        code = frame.f_code
        place = self.place(code.co_filename)
        if not place or place in self.mine:
            return None
        name = getattr(code, "co_qualname", code.co_name)
        by = frame.f_back.f_code.co_filename if frame.f_back else ""
        key, caller = place + ":" + name, self.place(by)
        if not self.tests.search(place) and (self.tests.search(caller) or by.startswith("<doctest")):
            self.last = set() if caller in self.mine else self.last
            flags = bool(code.co_flags & 4) + bool(code.co_flags & 8)
            names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount + flags]
            for one in names if self.mine or place in self.watch else ():
                seen = self.called.setdefault("%s(%s)" % (key, one), set())
                if one in frame.f_locals and one not in ("self", "cls") and len(seen) < 12:
                    seen.add(kind(frame.f_locals[one]))
        self.last.add(key)
        if key not in self.ran and len(self.ran) < _MOST:
            self.ran[key] = 1
            if code.co_consts and isinstance(code.co_consts[0], str) and name[:1] != "<":
                self.docs["%s:%d %s" % (place, code.co_firstlineno, name)] = code.co_consts[0][:4000]
        if place not in self.watch:
            return None
        self.touched.add(key)
        if not self.mine:  # which lines ran matters for a witness alone, and takes most of the time
            return None
        here = self.lines.setdefault(place, set())

        def local(frame, event, arg):
            here.add(frame.f_lineno)
            if event == "exception" and caller in self.mine and self.written(arg[0]):
                self.laws["error " + arg[0].__name__] = 1
            return local

        return local

    def written(self, cls):
        """Tell whether a class is the repository's."""
        return bool(self.place(str(getattr(sys.modules.get(cls.__module__), "__file__", "<"))))

    def pickling(self, dumps=pickle.dumps, loads=pickle.loads):
        """Note where what one call of pickle's makes, another cannot read."""
        made = []

        def dumped(*args, **more):
            made.append(dumps(*args, **more))
            return made[-1]

        def loaded(data, **more):
            try:
                return loads(data, **more)
            except Exception:
                self.laws |= {"pickle": 1} if data in made else {}
                raise

        pickle.dumps, pickle.loads = dumped, loaded

    def slipped(self, kind, last):
        """Tell whether what failed came of a line of ours that raises or warns of nothing, by its bytecode."""
        code, warns = last.tb_frame.f_code, issubclass(kind, Warning)
        return not warns and self.place(code.co_filename) and "RAISE" not in dis.opname[code.co_code[last.tb_lasti]]

    def hook(self, event, args):
        """Note what a witness does that it may not; what importing does is no doing of its own."""
        if not self.inside or not event.startswith((*self.told["loud"], *_LOOKS)):
            return
        frame, nearest = sys._getframe(1), None
        while frame and self.place(frame.f_code.co_filename) not in self.mine:
            if frame.f_code.co_filename.startswith("<frozen importlib"):
                return
            if not frame.f_code.co_filename.startswith(_STDLIB) or "site-packages" in frame.f_code.co_filename:
                nearest = nearest or frame
            frame = frame.f_back
        what = args[0] if args else ""
        if frame and event.startswith(_LOOKS):
            path = self.place(os.fsdecode(what)) if isinstance(what, (str, bytes)) else ""
            source = re.sub(r"__pycache__/(\w+)\..*", r"\1.py", path)
            frame = frame if isinstance(what, (str, bytes)) and (source in self.watch or not nearest) else None
            what = path or what
        if frame:
            self.audit["%s %s" % (event, str(what)[:200])] = 1

    # What follows are hooks of pytest's.

    def pytest_collection(self, session):
        sys.addaudithook(self.hook)
        if self.told["traced"]:
            if self.mine:
                self.pickling()
            threading.settrace(self.trace)
            sys.settrace(self.trace)

    def pytest_collection_modifyitems(self, items):
        if self.told["backwards"]:
            items.reverse()

    def pytest_collectreport(self, report):
        if report.failed:
            text = str(report.longrepr)
            told = re.findall(r"^E\s+(\w+)(?:: .*)?$", text, re.M) or [""]
            self.say("test", name=report.nodeid, outcome="failed", phase="collect",
                     failure={"kind": "own", "type": told[-1], "message": text[-2000:]})  # fmt: skip

    def pytest_runtest_logstart(self, nodeid, location):
        self.last, self.touched, self.laws = set(), set(), {}

    def pytest_runtest_call(self, item):
        self.inside = self.place(str(item.fspath)) in self.mine
        self.say("begun", name=item.nodeid)
        faulthandler.dump_traceback_later(self.told["seconds"], exit=True, file=self.told["to"])

    def pytest_runtest_makereport(self, item, call):
        faulthandler.cancel_dump_traceback_later()
        self.inside, fault = False, call.excinfo
        if fault is None and call.when != "call":
            return
        outcome = "passed" if fault is None else "skipped" if fault.typename == "Skipped" else "failed"
        failure = self.failure(item, fault) if outcome == "failed" else None
        if any(item.iter_markers("xfail")):
            outcome, failure = "skipped", None
        self.say("test", name=item.nodeid, outcome=outcome, phase=call.when, seconds=round(call.duration, 4),
                 touches=sorted(self.touched)[:200], last=sorted(self.last)[:200], laws=[*self.laws],
                 failure=failure)  # fmt: skip

    def failure(self, item, fault):
        """Return how a test failed: by what lies below its own line."""
        own, below, test = 0, [], self.place(str(item.fspath))
        for entry in fault.traceback:
            if self.place(str(entry.path)) == test:
                own, below = entry.lineno + 1, []
            elif own:
                below.append(entry)
        laws = ("slip", "special") if below and below[0].name in _ASKED else ("slip",)
        self.laws |= dict.fromkeys(laws, 1) if self.slipped(fault.type, fault.traceback[-1]._rawentry) else {}
        inner = next((one for one in reversed(below) if self.place(str(one.path))), None)
        found, at = self.cause(fault, own, below, inner)
        return {"kind": found, "test": item.nodeid, "type": fault.typename, "line": own, "at": at,
                "message": str(fault.value)[:2000]}  # fmt: skip

    def cause(self, fault, own, below, inner):
        """Return what kind of failure it is, and where in the repository; inner is the last entry there."""
        if issubclass(fault.type, (SystemExit, KeyboardInterrupt, OSError, MemoryError)):
            return "exit", ""
        if inner is not None:
            said = _EXPLICIT.search(str(inner.statement)) or issubclass(fault.type, _TOLD)
            return "raised" if said else "crash", "%s:%d" % (self.place(str(inner.path)), inner.lineno + 1)
        outside = any(not re.search(r"[/\\](_pytest|unittest)[/\\]", str(one.path)) for one in below)
        asserted = own and (fault.typename == "Failed" or issubclass(fault.type, AssertionError))
        return "assertion" if asserted and not outside else "own", ""

    def pytest_sessionfinish(self, session, exitstatus):
        sys.settrace(None)
        tails = tuple("/" + "/".join(path.split("/")[-2:]) for path in self.watch if "/" in path)
        files = {str(getattr(one, "__file__", "")) for one in list(sys.modules.values())}
        strange = sorted(name for name in files if name.endswith(tails) and not self.place(name))
        self.say("end", code=int(exitstatus), audit=sorted(self.audit)[:50], elsewhere=strange[:20],
                 ran=list(self.ran)[:1000], lines={one: sorted(found)[:_MOST] for one, found in self.lines.items()},
                 called={name: sorted(found) for name, found in list(self.called.items())[:1000]},
                 docs=dict(list(self.docs.items())[:60]))  # fmt: skip


def kind(value, deep=2):
    """Return the name of a value's type, with those of what it holds; a written class has its module before it."""
    inner = [one for pair in value.items() for one in pair] if isinstance(value, dict) else value
    inner = list(inner)[:20] if deep and isinstance(value, (list, tuple, set, frozenset, dict)) else []
    held, cls = "|".join(sorted({kind(one, deep - 1) for one in inner})), type(value)
    name = "%s.%s" % (cls.__module__, cls.__qualname__) if cls.__flags__ & _WRITTEN else cls.__name__
    return name + ("[%s]" % held if held else "")


if __name__ == "__main__":
    print(json.dumps(parent(json.load(sys.stdin))))
elif "ASSAY_PROBE" in os.environ:
    _probe = PytestProbe(json.loads(os.environ.pop("ASSAY_PROBE")))

    def pytest_configure(config):
        """Begin to watch."""
        config.pluginmanager.register(_probe, "assay-watch")
