"""Runs in two boxes, at both ends of a pipe: classes, objects and modules that stand in for what the other end holds.

A stand-in never decides whether it equals a literal, and what it is asked for is what the end allows (``may``).
"""

# pyright: basic, reportArgumentType=false, reportCallIssue=false
# Classes are made here as they are told; no checker knows them.
# It runs alone in the box, under whatever Python is there; every import costs each attempt.

import types

ALONE = ("str", "repr", "bool", "len", "iter", "next", "hash", "abs", "int", "float", "complex", "round", "reversed")
OTHERS = ("index", "neg", "pos", "invert", "getitem", "setitem", "delitem")
BETWEEN = ("add", "sub", "mul", "matmul", "truediv", "floordiv", "mod", "pow", "lshift", "rshift", "and_", "or_", "xor")
COMPARING = ("lt", "le", "gt", "ge")
ABLE = ("call", "iter", "next", "len", "contains", "getitem", "enter", "exit")
END = types.SimpleNamespace()


def asking(what):
    return lambda thing, *args, **kwargs: END.ask(what, [thing, *args], kwargs)


def reaching(what):
    """Return what looks an attribute up at the other end, or changes it."""

    def reach(thing, name, *value):
        if not END.may(what, name):
            raise AttributeError(name)
        return END.ask(what, [thing, name, *value])

    return reach


def between(what, turned=False):
    """Return an operator; a test may use it where that of the gold did."""

    def operate(thing, other):
        return END.ask(what, [other, thing] if turned else [thing, other]) if END.may(what) else NotImplemented

    return operate


def same(thing, other):
    """Tell whether two are equal; the other end says so of its own, and never of one of them and a literal."""
    if isinstance(other, (Remote, Kind)):
        return thing is other or (END.may("eq") and END.ask("eq", [thing, other]) is True)
    return any(each == other for each in END.ask("kept", [thing]))


def within(thing, item):
    if END.may("contains"):
        return END.ask("contains", [thing, item])
    return any(each is item or each == item for each in iter(thing))


_OF_CLASSES = {
    **{"__%s__" % name: asking(name) for name in ("call", "iter", "len", "getitem")},
    **{"__%sattr__" % name: reaching(what) for name, what in (("get", "get"), ("set", "set"), ("del", "delete"))},
    "__contains__": within,
}
_OF_OBJECTS = {
    **_OF_CLASSES,
    **{"__%s__" % name: asking(name) for name in (*ALONE, *OTHERS, "enter", "exit")},
    **{"__%s__" % name.strip("_"): between(name) for name in (*BETWEEN, *COMPARING)},
    **{"__r%s__" % name.strip("_"): between(name, turned=True) for name in BETWEEN},
    "__eq__": same,
}
# Whoever looks whether an object can be asked these finds what its class says.
WAYS = {name: _OF_OBJECTS.pop(name) for name in ["__%s__" % each for each in ABLE]}
Kind = type("Kind", (type,), {**_OF_CLASSES, "__bool__": lambda kind: True})
Remote = type.__new__(Kind, "Remote", (), _OF_OBJECTS)


def ways_of(kind):
    """Return what its objects can be asked beside what every object can, by name."""
    return {name: way for name, way in WAYS.items() if any(name in vars(each) for each in kind.__mro__)}


class Module(types.ModuleType):
    """A module at the other end."""

    def __getattr__(self, name):
        return reaching("get")(vars(self)["__far__"], name)

    def __setattr__(self, name, value):
        if name.startswith("__"):
            vars(self)[name] = value
        elif not isinstance(value, types.ModuleType):
            reaching("set")(vars(self)["__far__"], name, value)

    def __delattr__(self, name):
        reaching("delete")(vars(self)["__far__"], name)


def fault_of(kind, args):
    """Return an exception with its arguments, however its class is made."""
    try:
        fault = BaseException.__new__(kind, *args) if isinstance(kind, Kind) else kind(*args)
    except TypeError:
        fault = kind.__new__(kind)
    object.__setattr__(fault, "args", tuple(args))
    return fault
