"""Calls a function as it is, with values of the types that it is said to take; runs in the sealed process.

Stands alone: nothing of the tool is imported in here.
"""

# pyright: basic
from __future__ import annotations

import ast
import importlib
import signal
import sys
from contextlib import suppress
from datetime import date, datetime
from decimal import Decimal
from functools import partial
from itertools import islice
from uuid import UUID

_IMPORT_S = 15
_KINDS = {
    "Int": int, "Float": (float, int), "Text": str, "String": str, "Bool": bool, "Bytes": bytes, "Decimal": Decimal,
    "UUID": UUID, "Date": date, "Timestamp": datetime, "Unit": type(None), "List": (list, tuple),
    "Set": (set, frozenset), "Tuple": (tuple, list), "Map": dict,
}  # fmt: skip


class ArgumentChanged(Exception):
    """The function changes what it was given."""


class NotMade(Exception):
    """What a function is given cannot be made, or its result not be looked at, in the words that were proposed."""


class ResultOfAnotherType(Exception):
    """The result is not of the type that was promised."""


def imported(root, module, file):
    """Import a module from where it is; another one of its name is none."""
    if root not in sys.path:
        sys.path.insert(1, root)
    there = importlib.import_module(module)
    if getattr(there, "__file__", None) != file:
        raise ImportError(f"{module} is imported from {getattr(there, '__file__', 'elsewhere')}")
    return there


def importing(root, module, file):
    """Return a function that tells why a module cannot be imported; it is tried now, before the seal."""

    def late(*_):
        raise TimeoutError(f"it takes more than {_IMPORT_S} s")

    signal.signal(signal.SIGALRM, late)
    signal.alarm(_IMPORT_S)
    try:
        imported(root, module, file)
        words = ""
    except BaseException as error:
        words = f"{type(error).__name__}: {error}"[:300]
    finally:
        signal.alarm(0)
    return lambda: words


def adopted(errors, name, params, result, first, made, **where):
    """Return the function ``name`` of a module, called with values of the wire's types.

    Args:
        params: name, type and whether it goes by keyword, each.
        errors: names of errors that are promised; one below them is one of them.
        first: items that are taken of an iterator, where a list of them is promised.
        made: the text of what makes its values of those of the wire; empty where it takes these.
        where: what :func:`prepared` takes.
    """
    there = prepared(**where)
    real = of_made(made, there, first) if made else getattr(there, name)
    known = {error: type(error, (Exception,), {}) for error in errors}

    def call(*args):
        try:
            return called(real, args, params, result, first)
        except Exception as error:
            promised = next((kind.__name__ for kind in type(error).__mro__ if kind.__name__ in known), "")
            if promised and promised != type(error).__name__:
                raise known[promised](str(error)) from None
            raise

    return call


def of_made(made, there, first):
    """Return what makes a function's values, calls it and looks at the result; other errors than the call's say so."""
    tree, scope = ast.parse(made), {**vars(there), "first_items": partial(items, first=first)}
    exec(compile(tree, "<made>", "exec"), scope)
    making = tree.body[-1]

    def call(*args):
        try:
            return scope[making.name](*args)
        except Exception as error:
            # The line before the last one calls, and does no more.
            frame = error.__traceback__ and error.__traceback__.tb_next
            if frame and frame.tb_lineno == making.body[-2].lineno:
                raise
            raise NotMade(f"{type(error).__name__}: {error}"[:300]) from None

    return call


def adopted_class(domain, state, after, errors, name, params, observers, methods, first, made, **where):
    """Return the class ``name`` as a function of what makes an object, and of calls of its methods behind it.

    Args:
        domain: the module of types; ``state`` is what is seen of an object, ``after`` what came of a call.
        observers: expression and type of what is seen of an object, each.
        methods: by name in a call: its own name, parameters, the fields of a call that hold them, its type, ``None``
            where it gives an object, the field that it goes into, and the text that makes what it takes.
        made: that of the constructor.
    """
    there, state, after = prepared(**where), getattr(domain, state), getattr(domain, after)
    make = of_made(made, there, first) if made else getattr(there, name)
    bound = {text: partial(partial, of_made(text, there, first)) for *_, text in methods.values() if text}
    nothing = dict.fromkeys(into for *_, into, _ in methods.values())
    codes = [(compile(text, "<observer>", "eval"), of) for text, of in observers]

    def seen(thing):
        return state(*[checked(eval(code, {"self": thing}), of, first) for code, of in codes])  # noqa: S307

    def asked(thing, call):
        method, taken, fields, result, into, text = methods[call.to.value]
        real = bound[text](thing) if text else partial(getattr(thing, method), *[None] * 3 * (method == "__exit__"))
        try:
            value = called(real, [getattr(call, field) for field in fields], taken, result, first)
            return "", nothing | {into: value if result else seen(value)}
        except Exception as error:
            names = [of.__name__ for of in type(error).__mro__]
            return next((of for of in names if of in errors), names[0]), nothing

    def run(*args):
        thing = called(make, args[:-1], params, None, first)
        told = [after("", seen(thing), **nothing)]
        for call in args[-1]:
            error, results = asked(thing, call)
            told.append(after(error, seen(thing), **results))
        return told

    return run


def prepared(root, module, file, changed, needed):
    """Import a module.

    Args:
        changed: the text of a function or a class of it, where it is another one.
        needed: modules that its module imports when it is called; the seal would not let it.
    """
    there = imported(root, module, file)
    for other in needed:
        with suppress(Exception):
            importlib.import_module(other)
    if changed:
        tree = ast.parse(changed)
        try:
            exec(compile(tree, file, "exec", annotations.compiler_flag), vars(there))
        except Exception:  # a decorator that takes no second function of one name
            tree.body[0].decorator_list = []
            exec(compile(tree, file, "exec", annotations.compiler_flag), vars(there))
    return there


def called(real, args, params, result, first):
    """Return what a call gives, as its type has it; ``None`` for a type is one that cannot be looked at."""
    sent = [given(value, kind) for value, (_, kind, _) in zip(args, params, strict=True)]
    by_place = [value for value, (_, _, keyword) in zip(sent, params, strict=True) if not keyword]
    named = {param: value for value, (param, _, keyword) in zip(sent, params, strict=True) if keyword}
    returned = real(*by_place, **named)
    returned = checked(returned, result, first) if result else returned
    for value, arg, (param, kind, _) in zip(sent, args, params, strict=True):
        if kind[0] in ("List", "Set", "Map", "Option") and value != given(arg, kind):
            raise ArgumentChanged(param)
    return returned


def given(value, kind):
    """Return a value as Python's functions know it: lists and sets that can be changed."""
    name, args = kind[0], kind[1:]
    if name == "List":
        return list(value) if len(args[0]) == 1 else [given(item, args[0]) for item in value]
    if name == "Set":
        return set(value)
    if name == "Map":
        return {key: given(item, args[1]) for key, item in value.items()}
    if name == "Tuple":
        return tuple(given(item, arg) for item, arg in zip(value, args, strict=True))
    return given(value, args[0]) if name == "Option" and value is not None else value


def checked(value, kind, first):
    """Return a result that is of its type; of an iterator the first items, in a list.

    Raises:
        ResultOfAnotherType: it is not.
    """
    name, args = kind[0], kind[1:]
    if name == "Option":
        return None if value is None else checked(value, args[0], first)
    if name == "List" and hasattr(value, "__next__"):
        return checked(items(value, first), kind, first)
    if not _fits(value, name) or (name == "Tuple" and len(value) != len(args)):
        raise ResultOfAnotherType(f"{value!r:.80} is no {name}")
    if name in ("List", "Set"):
        return type(value)(checked(item, args[0], first) for item in value)
    if name == "Tuple":
        return tuple(checked(item, arg, first) for item, arg in zip(value, args, strict=True))
    if name == "Map":
        return {checked(key, args[0], first): checked(item, args[1], first) for key, item in value.items()}
    return value


def items(value, first):
    return list(islice(value, first)) if hasattr(value, "__next__") else value


def _fits(value, name):
    return isinstance(value, _KINDS[name]) and not (isinstance(value, bool) and name in ("Int", "Float"))
