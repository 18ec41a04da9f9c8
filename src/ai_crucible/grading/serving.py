"""Runs in a box without the oracle: does with a work copy what tests ask over the pipe, and answers.

It does not know what is expected, and no verdict comes from here: whoever takes it over can only answer otherwise.
"""

# pyright: basic
# It runs alone in the box, under whatever Python is there, on data of any shape; every import costs each attempt.

import importlib
import io
import json
import operator
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
from wire import End, Gone  # noqa: E402

sys.path.remove(HERE)
_LITERALS = (str, bytes, int, float, tuple, list, dict, set, frozenset)


class Solved(End):
    """The end at which the work copy is."""

    def keep(self, value):
        """Keep a value, and say what the other end may know of it."""
        self.held.append(value)
        told = {"id": len(self.held) - 1}
        base = next((kind for kind in _LITERALS if isinstance(value, kind)), None)
        if base is not None:
            told["base"] = self.pack(base(value))
        if isinstance(value, type) and issubclass(value, BaseException):
            told["raised"] = [[kind.__module__, kind.__name__, self.number(kind)] for kind in value.__mro__]
        return told

    def number(self, kind):
        """Return the number of a class, always the same one."""
        for place, held in enumerate(self.held):
            if held is kind:
                return place
        self.held.append(kind)
        return len(self.held) - 1

    def kept(self, told):
        """Return what was kept, or what calls a function of the tests."""
        if "back" not in told:
            return self.held[told["id"]]

        def call(*args, **kwargs):
            self.send(back=told["back"], args=self.pack(args), kwargs=self.pack(kwargs))
            return self.serve()

        return call

    def serve(self):
        """Do what is asked until what was asked back is answered; return the answer."""
        while True:
            message = self.hear()
            if "answer" in message:
                return self.unpack(message["answer"])
            if "refused" in message:
                raise RuntimeError(message["refused"])
            before, sys.stdout = sys.stdout, io.StringIO()
            try:
                args, kwargs = self.unpack(message["args"]), self.unpack(message["kwargs"])
                answer = {"ok": self.pack(OPERATIONS[message["ask"]](*args, **kwargs))}
            except Gone:
                raise
            except BaseException as fault:
                kind, args = self.keep(type(fault)), [self.pack(each) for each in fault.args]
                answer = {"fault": kind, "args": args, "text": str(fault)[:2000], "id": self.keep(fault)["id"]}
            said, sys.stdout = sys.stdout.getvalue(), before
            self.send(said=said, **answer)


def same(first, second, other):
    """Tell whether two are equal; what equals anything equals nothing."""
    return bool(first == second) and not (first == other or second == other)


OPERATIONS = {name: getattr(operator, name) for name in dir(operator) if not name.startswith("_")}
OPERATIONS.update(
    {each.__name__: each for each in (getattr, setattr, delattr, len, str, repr, bool, iter, next, hash, int, float)}
)
OPERATIONS.update(
    {
        "call": lambda function, /, *args, **kwargs: function(*args, **kwargs),
        "enter": lambda manager: manager.__enter__(),
        "leave": lambda manager: manager.__exit__(None, None, None),
        "load": importlib.import_module,
        "names": lambda module: list(getattr(module, "__all__", [n for n in vars(module) if n[0] != "_"])),
        "of": isinstance,
        "under": issubclass,
        "same": same,
    }
)


def main():
    """Serve until the other end is gone."""
    lines, out = os.fdopen(os.dup(0), encoding="utf-8"), os.fdopen(os.dup(1), "w", encoding="utf-8")
    quiet = os.open(os.devnull, os.O_RDWR)
    os.dup2(quiet, 0)
    os.dup2(quiet, 1)
    sys.dont_write_bytecode = True
    sys.path[:0] = [os.path.abspath(place) for place in json.loads(sys.argv[1])]
    try:
        Solved(lines, out).serve()
    except Gone:
        os._exit(0)


main()
