"""Serves the functions of a project to the judge: a loop over pipes, sealed before it hears the first name.

Arguments: a file with what is served (names and types of functions, no contract), and the number of the variant.
Stands alone: nothing of the tool is imported in here.
"""

# pyright: basic
import ctypes
import dis
import importlib
import json
import os
import platform
import struct
import sys
from datetime import date, datetime
from decimal import Decimal
from operator import methodcaller
from pathlib import Path
from uuid import UUID

import msgpack

BIG, DECIMAL, WHEN, MAP = 1, 2, 3, 5
_LONGEST_TRACE = 1 << 18
_MOST_STEPS = 2_000_000
#: Instructions of one call that are watched.
_WATCHED = 20_000

#: By machine: the kernel's name for it, and the calls that stay possible: memory, pipes, time, chance, an end.
_ALLOWED = {
    "x86_64": (0xC000003E, (0, 1, 3, 5, 9, 10, 11, 12, 13, 14, 15, 24, 25, 28, 35, 39, 60, 96, 131, 186, 201, 202,
                            219, 228, 229, 231, 262, 318)),
    "aarch64": (0xC00000B7, (57, 62, 63, 64, 79, 80, 93, 94, 98, 101, 113, 114, 124, 132, 134, 135, 139, 169, 172,
                             178, 214, 215, 216, 222, 226, 233, 278)),
}  # fmt: skip


def _packed(value) -> bytes:
    data = msgpack.packb(value)
    assert data is not None
    return data


def seal():
    """Let the kernel end this process for any other call; return in words what holds it."""
    known = _ALLOWED.get(platform.machine())
    if known is None or not sys.platform.startswith("linux"):
        return ""
    architecture, numbers = known
    load, equal, give, kill, allow = 0x20, 0x15, 0x06, 0x80000000, 0x7FFF0000
    rules = [(load, 0, 0, 4), (equal, 1, 0, architecture), (give, 0, 0, kill), (load, 0, 0, 0)]
    for number in numbers:
        rules += [(equal, 0, 1, number), (give, 0, 0, allow)]
    rules.append((give, 0, 0, kill))

    class Instruction(ctypes.Structure):
        _fields_ = [("code", ctypes.c_ushort), ("jt", ctypes.c_ubyte), ("jf", ctypes.c_ubyte), ("k", ctypes.c_uint)]

    class Program(ctypes.Structure):
        _fields_ = [("len", ctypes.c_ushort), ("filter", ctypes.POINTER(Instruction))]

    array = (Instruction * len(rules))(*[Instruction(*rule) for rule in rules])
    program = Program(len(rules), array)
    libc = ctypes.CDLL(None, use_errno=True)
    held = libc.prctl(38, 1, 0, 0, 0) == 0 and libc.prctl(22, 2, ctypes.byref(program), 0, 0) == 0
    return "seccomp" if held else ""


#: Scalars that the wire has, and what is written there as a text: its number, how it goes out and comes in.
_PLAIN = {"Text": str, "String": str, "Bool": bool, "Float": float, "Bytes": bytes, "Unit": lambda value: None}
_WRITTEN = {
    "Decimal": (DECIMAL, lambda value: str(Decimal(value)), Decimal),
    "Date": (WHEN, methodcaller("isoformat"), date.fromisoformat),
    "Timestamp": (WHEN, methodcaller("isoformat"), datetime.fromisoformat),
}


class _Values:
    """Between Python's values and the wire's, by the types of the specification: ``[name, *arguments]`` each."""

    def __init__(self, known, domain):
        self.known, self.domain = known, domain

    def out(self, value, kind):
        name, args = kind[0], kind[1:]
        if name in ("List", "Set"):
            return [self.out(item, args[0]) for item in value]
        if name == "Int":
            value = int(value)
            return value if -(1 << 63) <= value < 1 << 64 else msgpack.ExtType(BIG, str(value).encode())
        if name in _PLAIN:
            return _PLAIN[name](value)
        if name in _WRITTEN:
            code, write, _ = _WRITTEN[name]
            return msgpack.ExtType(code, write(value).encode())
        if name == "UUID":
            return str(value)
        if name == "Tuple":
            return [self.out(item, arg) for item, arg in zip(value, args, strict=True)]
        if name in ("Option", "Result"):
            return None if value is None and name == "Option" else self.out(value, args[0])
        if name == "Map":
            pairs = [[self.out(k, args[0]), self.out(v, args[1])] for k, v in value.items()]
            return msgpack.ExtType(MAP, msgpack.packb(pairs))
        if name in self.known["records"]:
            return [self.out(getattr(value, field), of) for field, of in self.known["records"][name]]
        if name in self.known["types"]:
            return self.out(value, self.known["types"][name])
        return value.value if name in self.known["enums"] else name

    def read(self, value, kind):
        name, args = kind[0], kind[1:]
        if name == "List":
            return tuple(self.read(item, args[0]) for item in value)
        if name == "Int":
            return value if isinstance(value, int) else int(value.data)
        if name in _PLAIN:
            return value
        if name == "Set":
            return frozenset(self.read(item, args[0]) for item in value)
        if name in _WRITTEN:
            return _WRITTEN[name][2](value.data.decode())
        if name == "UUID":
            return UUID(value)
        if name == "Tuple":
            return tuple(self.read(item, arg) for item, arg in zip(value, args, strict=True))
        if name in ("Option", "Result"):
            return None if value is None and name == "Option" else self.read(value, args[0])
        if name == "Map":
            pairs = msgpack.unpackb(value.data, strict_map_key=False)
            return {self.read(k, args[0]): self.read(v, args[1]) for k, v in pairs}
        made = getattr(self.domain, name)
        if name in self.known["records"]:
            fields = self.known["records"][name]
            return made(*(self.read(item, of) for item, (_, of) in zip(value, fields, strict=True)))
        if name in self.known["types"]:
            return made(self.read(value, self.known["types"][name]))
        return made(value) if name in self.known["enums"] else made()


class Functions:
    """The functions of one variant; calls between them are noted."""

    def __init__(self, known, values, variant):
        self.known, self.values = known, values
        self.depth, self.size = 0, 0
        self.trace: list | None = []
        self.by_name = {}
        self.missing: dict | None = None
        self.left = 0
        #: Of each body and what is defined in it: the function's name and the lines of its file.
        self.codes = {}
        names = {}
        for name in known["served"][variant]:
            module, _, short = name.partition(".")
            plain = getattr(importlib.import_module(f"{known['package']}.{module}"), short)
            names[name] = (plain, self.noted(name, plain))
            self.by_name[name] = plain
            found = [plain.__code__] if Path(plain.__code__.co_filename).stem == module else []
            for code in found:
                self.codes[code] = name, Path(code.co_filename).read_text("utf-8").splitlines()
                found += [part for part in code.co_consts if hasattr(part, "co_positions")]
        self.offsets = {code: {i.offset for i in dis.get_instructions(code)} for code in self.codes}
        for module in {name.partition(".")[0] for name in known["functions"]}:
            there = sys.modules.get(f"{known['package']}.{module}")
            for plain, noted in names.values() if there else ():
                for short, value in list(vars(there).items()):
                    if value is plain:
                        setattr(there, short, noted)

    def noted(self, name, plain):
        params, result = self.known["functions"][name]

        def call(*args, **named):
            outer = self.depth
            self.depth += 1
            try:
                returned = plain(*args, **named)
            except Exception as error:
                self.note(outer, name, params, args, named, 1, [type(error).__name__, str(error)[:400]], None)
                raise
            finally:
                self.depth = outer
            self.note(outer, name, params, args, named, 0, returned, result)
            return returned

        return call

    def note(self, depth, name, params, args, named, status, value, kind):
        if depth != 1 or self.trace is None:
            return
        watch = sys.gettrace()
        sys.settrace(None)  # what is done here is no step of a body
        values = [*args, *(named[p] for p, _ in params[len(args) :])]
        sent = [self.values.out(item, of) for item, (_, of) in zip(values, params, strict=True)]
        entry = [name, sent, status, value if kind is None else self.values.out(value, kind)]
        self.size += len(_packed(entry))
        self.trace.append(entry)
        if self.size > _LONGEST_TRACE:
            self.trace = None
        sys.settrace(watch)

    def places(self):
        """Watch which instructions of the bodies run; then tell how many did of how many, and what did not."""
        if self.missing is None:
            self.missing = {code: set(offsets) for code, offsets in self.offsets.items()}
            return []
        told, counts = [], {}
        for code, (name, lines) in self.codes.items():
            where = list(code.co_positions())
            known = {n: where[n // 2] for n in self.offsets[code]}
            known = {n: place for n, place in known.items() if None not in place and place[2] != place[3]}
            left = set(known.values()) - {place for n, place in known.items() if n not in self.missing[code]}
            ran, every = counts.get(name, (0, 0))
            counts[name] = ran + len(set(known.values()) - left), every + len(set(known.values()))
            told += [f"{name} {text}" for place in sorted(left, key=lambda p: (p[0], p[2], -p[1], -p[3]))
                     if (text := written(lines, *place))]  # fmt: skip
        return [*(f"#{name} {ran} {every}" for name, (ran, every) in counts.items()), *dict.fromkeys(told)]

    def watch(self, frame, event, argument):
        missing = self.missing.get(frame.f_code) if self.missing else None
        if not missing:
            return None
        frame.f_trace_opcodes, frame.f_trace_lines = True, False

        def step(frame, event, argument):
            missing.discard(frame.f_lasti)
            self.left -= 1
            if self.left < 0 or not missing:
                frame.f_trace_opcodes = False
            return step

        return step if self.left > 0 else None

    def answer(self, identity, name, sent):
        if name == "#places":
            return _packed([identity, 0, self.places(), []])
        name, _, work = name.partition("#")
        params, result = self.known["functions"][name]
        self.trace, self.size, self.depth, self.left = [], 0, 1, _WATCHED
        try:
            args = [self.values.read(value, kind) for value, (_, kind) in zip(sent, params, strict=True)]
            if work:
                return _packed([identity, 0, steps(lambda: self.by_name[name](*args)), []])
            sys.settrace(self.watch if self.missing and any(self.missing.values()) else None)
            returned = self.by_name[name](*args)
            sys.settrace(None)
            self.depth = 0
            status, value = 0, self.values.out(returned, result)
            for (param, kind), arg, before in zip(params, args, sent, strict=True):
                if kind[0] != "Set" and msgpack.packb(self.values.out(arg, kind)) != msgpack.packb(before):
                    status, value = 2, param
        except Exception as error:
            status, value = 1, [type(error).__name__, str(error)[:400]]
        sys.settrace(None)
        return _packed([identity, status, value, self.trace])


def written(lines, first, last, begin, end):
    """Return what stands at a place; nothing where it is the words of an assertion."""
    if lines[first - 1].lstrip().startswith("assert"):
        return ""
    return lines[first - 1].encode()[begin : end if first == last else None].decode("utf-8", "replace").strip()


class _Enough(BaseException):
    """As many steps as are counted."""


def steps(run):
    """Count the steps of the interpreter in a call, up to 2,000,000; a built-in function is one step."""
    count = 0

    def step(frame, event, argument):
        nonlocal count
        frame.f_trace_opcodes = True
        count += event == "opcode"
        if count >= _MOST_STEPS:
            raise _Enough
        return step

    sys.settrace(step)
    try:
        run()
    except _Enough:
        pass
    finally:
        sys.settrace(None)
    return count


def warm():
    """Import what the modules that bodies may use would import later."""
    for name in ("_strptime", "_pydecimal", "fractions", "statistics", "unicodedata", "encodings.idna", "random"):
        importlib.import_module(name)
    datetime.strptime("2000", "%Y")


def main():
    sys.dont_write_bytecode = True
    sys.setrecursionlimit(2_000)
    known = json.loads(Path(sys.argv[1]).read_text("utf-8"))
    variant = int(sys.argv[2])
    sys.path.insert(0, str(Path("variants", str(variant)).resolve()))
    reading, writing = os.dup(0), os.dup(1)
    null = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(null, stream)
    warm()
    functions = Functions(known, _Values(known, importlib.import_module(f"{known['package']}.domain")), variant)

    def read(size):
        parts = b""
        while len(parts) < size:
            part = os.read(reading, min(size - len(parts), 1 << 20))
            if not part:
                os._exit(0)
            parts += part
        return parts

    def write(data):
        data = memoryview(struct.pack(">I", len(data)) + data)
        while data:
            data = data[os.write(writing, data) :]

    write(msgpack.packb([0, 0, seal(), None]))
    while True:
        identity, name, sent = msgpack.unpackb(read(struct.unpack(">I", read(4))[0]), strict_map_key=False)
        write(functions.answer(identity, name, sent))


if __name__ == "__main__":
    main()
