"""Arithmetic of a 32-bit controller: results wrap around."""


def wrap(value):
    return value


def add(a, b):
    return wrap(a + b)


def sub(a, b):
    return wrap(a - b)


def half(a):
    return wrap(a // 2)
