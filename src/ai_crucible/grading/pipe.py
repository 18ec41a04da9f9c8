"""Runs in two boxes: hidden tests at one end of a pipe, what they test at the other.

A literal crosses as it is, and so does a value of ``VALUES``; all else stays where it is, crosses as a number, and is
met as a stand-in. What tells the outcome of tests runs no word of the solver's: it asks, and compares what comes back
with literals of its own. ``asks`` names, by test, what it asked of the gold (attributes, operators); it asks no more.

As a program it is the solver's end. What the solver's code does there, it does to itself.
"""

# pyright: basic, reportArgumentType=false, reportCallIssue=false
# Classes are made here as they are told; no checker knows them.
# It runs alone in the box, under whatever Python is there, on data of any shape; every import costs each attempt.

import builtins
import importlib
import json
import operator
import os
import sys
import threading
import types
from contextlib import suppress

# Beside this program, in a folder that nobody else has written to yet.
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import stand_ins
from stand_ins import WAYS, Kind, Remote, fault_of, ways_of

sys.path.pop(0)
PIPES = ("/pipe/questions", "/pipe/answers")
_CLOSED = (types.ModuleType, types.FrameType, types.CodeType, types.TracebackType)
_RUNNING = (types.GeneratorType, types.CoroutineType, types.AsyncGeneratorType)
_KEPT = (tuple, list, dict, set, frozenset, str, bytes, int, float, complex)
_MANY = {kind.__name__: kind for kind in (list, tuple, set, frozenset, bytes, bytearray)}
_DICTS = {"builtins.dict", "collections.OrderedDict", "collections.defaultdict"}
_CHANGING = (list, dict, set, bytearray)
#: Of a test's function or class: texts, which lead no further.
_WORDS = ("__name__", "__qualname__")
_DEEPEST = 50
VALUES = frozenset({"datetime.date", "datetime.datetime", "datetime.time", "datetime.timedelta", "datetime.timezone"})
VALUES |= {"decimal.Decimal", "fractions.Fraction", "collections.Counter", "pathlib.PosixPath"}
VALUES |= {"builtins.range", "builtins.slice"}


#: What one end does for the other: the tests' end only with what a test gave away, and nothing that leads further.
OPERATIONS = {
    **{name: getattr(builtins, name) for name in stand_ins.ALONE},
    **{
        name: getattr(operator, name)
        for name in [*stand_ins.OTHERS, *stand_ins.BETWEEN, *stand_ins.COMPARING, "eq", "contains"]
    },
    "call": lambda function, *args, **kwargs: function(*args, **kwargs),
    "get": getattr,
    "kept": lambda thing: [kind(thing) for kind in _KEPT if isinstance(thing, kind)][:1],
    "enter": lambda thing: type(thing).__enter__(thing),
    "exit": lambda thing, kind, fault, _: type(thing).__exit__(thing, kind, fault, None),
}
_FOR_TESTS = {"set": setattr, "delete": delattr, "bring": importlib.import_module}


def _is_shut(owner, name):
    # A mock's own ways would change what it asserts.
    ways = hasattr(type(owner), str(name)) and type(owner).__module__ == "unittest.mock"
    inner = str(name).startswith("_") and name not in _WORDS
    return ways or inner or isinstance(owner, (*_CLOSED, *_RUNNING))


class End:
    """One end of the pipe: what it holds for the other, and what stands in here for what the other holds."""

    def __init__(self, inward, outward, asks=None, trusted=False):
        self.inward, self.outward, self.trusted = inward, outward, trusted
        self.held, self.numbers, self.theirs, self.names = [], {}, {}, {}
        self.turn, self.owner = threading.RLock(), threading.get_ident()
        # What each test may ask; where nobody has said so, what it asks is noted.
        self.test, self.asks, self.asked = "", asks, {}

    def ask(self, what, args, kwargs=None):
        """Ask the other end to do something; return or raise what it answers."""
        if not self.trusted and threading.get_ident() != self.owner:
            raise RuntimeError("only the thread that was asked may ask")
        with self.turn:
            given = [self.packed(each) for each in args]
            self.send(["ask", what, given, {name: self.packed(each) for name, each in (kwargs or {}).items()}])
            while (message := self.received())[0] == "ask":
                self.answer(*message[1:])
            try:
                how, value = message[0], self.unpacked(message[1])
                for place, new in message[2] if what == "call" else ():
                    renew(args[place], self.unpacked(new))
            except Exception:
                self.gone()
        if how == "raised":
            # The end of an iteration ends only what iterates.
            ends = isinstance(value, StopIteration) and what != "next"
            raise value if isinstance(value, BaseException) and not ends else RuntimeError("raised no exception")
        return value

    def answer(self, what, args, kwargs):
        """Do what the other end asks."""
        changes = []
        try:
            own = [self.unpacked(each) for each in args]
            self.guard(what, own)
            action = OPERATIONS.get(what) or _FOR_TESTS[what]
            result = action(*own, **{name: self.unpacked(each) for name, each in kwargs.items()})
            answer = ["ok", self.packed(result)]
            for place, value in enumerate(own if what == "call" else ()):
                if type(value) in _CHANGING and (after := self.packed(value)) != args[place]:
                    changes.append([place, after])
        except BaseException as fault:
            answer = ["raised", self.packed(fault)]
        self.send([*answer, changes])

    def guard(self, what, args):
        """Refuse what a solver has no business with."""
        if self.trusted and what == "get" and _is_shut(args[0], args[-1]):
            # As of what is not there, so that whoever wraps a function goes on without it.
            raise AttributeError(args[-1])
        if self.trusted and (what not in OPERATIONS or id(args[0]) not in self.numbers):
            raise PermissionError(what)

    def may(self, *words):
        """Tell whether the test that runs may ask this; where it learns, note that it does."""
        if self.asks is None:
            self.asked.setdefault(self.test, set()).add(" ".join(words))
        return self.asks is None or " ".join(words) in self.asks.get(self.test, ())

    def packed(self, value, depth=0):
        """Return a value as JSON has it: literals whole, all else as a number."""
        kind = type(value)
        if value is None or kind in (bool, int, float, str):
            return value
        name = kind.__module__ + "." + kind.__qualname__
        if depth > _DEEPEST:
            return self.numbered(value)
        if _MANY.get(kind.__name__) is kind:
            return [kind.__name__, *[self.packed(each, depth + 1) for each in value]]
        if name in _DICTS:
            return ["dict", *[[self.packed(one, depth + 1) for one in pair] for pair in value.items()]]
        if name in VALUES and is_whole(value):
            return ["value", name, *[self.packed(each, depth + 1) for each in value.__reduce_ex__(2)[1]]]
        if kind.__module__ == "builtins" and isinstance(value, BaseException):
            return ["error", kind.__name__, *[self.packed(each, depth + 1) for each in value.args]]
        return self.numbered(value)

    def numbered(self, value):
        """Return what stays here as a number, with its class when it is first told."""
        if id(value) in self.names:
            return ["yours", self.names[id(value)]]
        if isinstance(value, type) and vars(builtins).get(value.__name__) is value:
            return ["builtin", value.__name__]
        if self.trusted and isinstance(value, _CLOSED):
            raise TypeError("a test gives nothing of its own workings away")
        if self.trusted and (place := standard(value)):
            return ["standard", *place]
        if id(value) in self.numbers:
            return ["mine", self.numbers[id(value)]]
        number = self.numbers[id(value)] = len(self.held)
        self.held.append(value)
        if isinstance(value, type):
            return ["mine", number, value.__name__, " ".join(ways_of(value)), *map(self.packed, value.__bases__)]
        told = [self.packed(each) for each in value.args] if isinstance(value, BaseException) else []
        return ["mine", number, None, self.packed(type(value)), *told]

    def unpacked(self, data):
        """Return what the other end means."""
        if not isinstance(data, list):
            return data
        what, first, *rest = [*data, None] if len(data) == 1 else data
        if what in _MANY:
            return _MANY[what](map(self.unpacked, data[1:]))
        if what == "dict":
            return {self.unpacked(key): self.unpacked(value) for key, value in data[1:]}
        if what == "yours":
            return self.held[first]
        if what == "mine":
            return self.theirs[first] if first in self.theirs else self.stand_in(first, *rest)
        if what == "standard" and not self.trusted:
            return operator.attrgetter(rest[0])(importlib.import_module(first))
        more = [self.unpacked(each) for each in rest]
        if what == "value" and first in VALUES:
            module, name = first.split(".")
            return getattr(importlib.import_module(module), name)(*more)
        kind = vars(builtins)[first]
        if what == "builtin" and isinstance(kind, type):
            return kind
        if what == "error" and issubclass(kind, BaseException):
            return fault_of(kind, more)
        raise ValueError(what)

    def stand_in(self, number, name, *rest):
        """Return what stands in for a class or an object that is told for the first time."""
        more = [self.unpacked(each) for each in rest]
        if name is None:
            kind = more[0]
            if not isinstance(kind, Kind):  # both ends have it
                kind = type.__new__(Kind, kind.__name__, (Remote,), ways_of(kind))
            made = fault_of(kind, more[1:]) if issubclass(kind, BaseException) else object.__new__(kind)
        else:
            bases = [base for base in more[1:] if isinstance(base, Kind)] or [Remote]
            faults = [base for base in more[1:] if base not in bases and issubclass(base, BaseException)]
            ways = {way: WAYS[way] for way in str(more[0]).split() if way in WAYS}
            made = type.__new__(Kind, name, (*bases, *faults), ways)
        self.theirs[number], self.names[id(made)] = made, number
        return made

    def send(self, message):
        """Write a message."""
        with suppress(BrokenPipeError):  # that nobody answers is noticed next
            self.outward.write(json.dumps(message).encode() + b"\n")
            self.outward.flush()

    def received(self):
        """Return the next message."""
        with suppress(Exception):
            message = json.loads(self.inward.readline())
            if message[0] in ("ask", "ok", "raised"):
                return message
        return self.gone()

    def gone(self):
        """End this process at once: of tests that were cut off nothing is told."""
        os._exit(3)


def is_whole(value):
    """Tell whether a value is made of literals alone: a time in a zone that a solver wrote is not."""
    kind = type(value)
    if value is None or kind in (bool, int, float, str, bytes):
        return True
    if kind in (tuple, dict):
        return all(map(is_whole, value.items() if kind is dict else value))
    return kind.__module__ + "." + kind.__qualname__ in VALUES and is_whole(value.__reduce_ex__(2)[1])


def renew(old, new):
    """Give what was handed over the contents that it has now."""
    if type(old) is not type(new) or type(old) not in _CHANGING:
        raise TypeError("changed into something else")
    old.clear()
    (old.extend if isinstance(old, (list, bytearray)) else old.update)(new)


def standard(value):
    """Return module and name of something that the standard library has, at the other end too."""
    module, name = getattr(value, "__module__", None), getattr(value, "__qualname__", None)
    try:
        known = module in sys.stdlib_module_names and operator.attrgetter(name)(sys.modules[module]) is value
    except (AttributeError, KeyError, TypeError):
        return None
    return (module, name) if known else None


def main():
    """Do what the tests ask."""
    outward = open(os.open(PIPES[1], os.O_WRONLY), "wb")
    stand_ins.END = End(open(os.open(PIPES[0], os.O_RDONLY), "rb"), outward)
    sys.path[:0] = [os.path.join(os.getcwd(), folder) for folder in ("", "src", "lib")]
    sys.dont_write_bytecode = True
    sys.setrecursionlimit(2000)
    while True:
        stand_ins.END.answer(*stand_ins.END.received()[1:])


if __name__ == "__main__":
    main()
