"""Runs at both ends of the pipe between hidden tests and what they test: a message a line, values as JSON.

What is no plain value stays where it is made; the other end gets its number. Nothing that comes over the pipe is
ever run.
"""

# pyright: basic
# It runs alone in the boxes, under whatever Python is there, on data of any shape; every import costs each attempt.

import importlib
import json

_PLAIN = (type(None), bool, int, float, str)
_MANY = {kind.__name__: kind for kind in (tuple, set, frozenset)}
_BYTES = {kind.__name__: kind for kind in (bytes, bytearray)}
_DICTS = ("dict", "defaultdict", "OrderedDict", "Counter")
#: Made again from what they are reduced to, which is plain.
_MADE = (
    *("datetime.date", "datetime.datetime", "datetime.time", "datetime.timedelta", "datetime.timezone"),
    *("decimal.Decimal", "fractions.Fraction", "pathlib.PosixPath", "builtins.complex", "builtins.range"),
)


class Gone(BaseException):
    """The other end is no longer there, or says what is no message."""


class End:
    """One end of the pipe: ``keep`` and ``kept`` say what stands for a value that is not plain."""

    def __init__(self, lines, out):
        self.lines, self.out, self.held = lines, out, []

    def send(self, **message):
        """Say something."""
        try:
            self.out.write(json.dumps(message) + "\n")
            self.out.flush()
        except OSError:
            raise Gone from None

    def hear(self):
        """Return what is said next."""
        line = self.lines.readline()
        try:
            return dict(json.loads(line))
        except (ValueError, TypeError, RecursionError):
            raise Gone(line[:200]) from None

    def pack(self, value):
        """Return a value as JSON-compatible data."""
        kind = type(value)
        name = "%s.%s" % (kind.__module__, kind.__qualname__)
        if kind in _PLAIN:
            return value
        if kind is list:
            return [self.pack(item) for item in value]
        if kind in _MANY.values():
            return {kind.__name__: [self.pack(item) for item in value]}
        if kind in _BYTES.values():
            return {kind.__name__: value.decode("latin-1")}
        if kind.__name__ in _DICTS and name in ("builtins.dict", "collections." + kind.__name__):
            return {"dict": [[self.pack(key), self.pack(item)] for key, item in value.items()]}
        if name in _MADE:
            plain = [value.real, value.imag] if kind is complex else list(value.__reduce__()[1])
            return {"made": [name, self.pack(plain)]}
        return {"kept": self.keep(value)}

    def unpack(self, data):
        """Return the value that :meth:`pack` had, or what stands for it here."""
        if isinstance(data, list):
            return [self.unpack(item) for item in data]
        if not isinstance(data, dict):
            return data
        ((tag, held),) = data.items()
        if tag in _MANY:
            return _MANY[tag](self.unpack(item) for item in held)
        if tag in _BYTES:
            return _BYTES[tag](held, "latin-1")
        if tag == "dict":
            return {self.unpack(key): self.unpack(item) for key, item in held}
        if tag == "made" and held[0] in _MADE:
            module, name = held[0].split(".")
            return getattr(importlib.import_module(module), name)(*self.unpack(held[1]))
        return self.kept(held)
