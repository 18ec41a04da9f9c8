"""Arithmetic of a 32-bit controller, on indices that notice arithmetic of any other kind."""

plain = []
calls = []


def noticed(name):
    def act(self, *others):
        plain.append(name)
        return Index(getattr(int, name)(int(self), *map(int, others)))

    return act


class Index(int):
    """A whole number that writes down what is done to it."""


for _name in "add sub mul floordiv truediv mod lshift rshift".split():
    for _way in (f"__{_name}__", f"__r{_name}__"):
        setattr(Index, _way, noticed(_way))


def wrap(value):
    return Index((value + 2**31) % 2**32 - 2**31)


def add(a, b):
    calls.append("add")
    return wrap(int(a) + int(b))


def sub(a, b):
    calls.append("sub")
    return wrap(int(a) - int(b))


def half(a):
    calls.append("half")
    return wrap(int(a) // 2)
