"""Runs in a box beside what is tested: runs test files, functions and unittest alike, and says what came of each.

Where pytest is installed it runs them. Where it is not, a module of that name stands in for what small tests use of
it: ``mark.parametrize``, ``skip``, ``skipif``, ``raises``, ``approx``. Run beside what they test, it sees what they
expect, and may say what it likes; sealed, they reach it over a pipe.
"""

# pyright: basic
# It runs alone in the box, under whatever Python is there.

import importlib
import inspect
import math
import os
import sys
import types
import unittest


class _Skipped(Exception):
    """A test does not want to be run."""


def run(names, began=lambda name: None):
    """Run tests ``path.py`` or ``path.py::name``; return ``passed``, ``failed`` or ``skipped`` by full name.

    ``began`` is told of each before it runs, and of the loading of a file as of a test without a name.
    """
    sys.path[:0] = [os.getcwd(), *{os.path.dirname(os.path.abspath(name.split("::")[0])) for name in names}]
    outcomes = {}
    try:
        import pytest
    except ImportError:
        pytest = sys.modules["pytest"] = stand_in()
    # The stand-in has whatever it is asked for as a word that is not so.
    if getattr(pytest, "main", None):
        return by_pytest(pytest, names, began)
    for name in names:
        path, _, wanted = name.partition("::")
        began("")
        try:
            module = load(path)
        except Exception as fault:
            outcomes[path] = "failed: %s: %s" % (type(fault).__name__, fault)
            continue
        for test, action in found(module):
            if not wanted or test == wanted or test.startswith((wanted + "::", wanted + "[")):
                began("%s::%s" % (path, test))
                outcomes["%s::%s" % (path, test)] = outcome(action)
    return outcomes


def by_pytest(pytest, names, began):
    """Run them with the real one."""

    class Listener:
        outcomes = {}

        def pytest_runtest_logstart(self, nodeid):
            began(nodeid)

        def pytest_runtest_logreport(self, report):
            if report.when == "call" or report.outcome != "passed":
                self.outcomes[report.nodeid] = report.outcome

    pytest.main(["-q", "-p", "no:cacheprovider", *names], plugins=[Listener()])
    return Listener.outcomes


def load(path):
    """Import a test file by its own name, as a module of its folder where that is a package."""
    parts = [os.path.splitext(os.path.basename(path))[0]]
    folder = os.path.dirname(os.path.abspath(path))
    while os.path.exists(os.path.join(folder, "__init__.py")):
        parts.insert(0, os.path.basename(folder))
        folder = os.path.dirname(folder)
    sys.path.insert(0, folder)
    return importlib.import_module(".".join(parts))


def found(module):
    """Yield names and actions of the tests of a module, in its order."""
    for name, thing in list(vars(module).items()):
        if inspect.isclass(thing):
            yield from of_class(name, thing)
        elif inspect.isfunction(thing) and name.startswith("test"):
            yield from varied(name, thing)


def of_class(name, kind):
    """Yield names and actions of the tests that are methods."""
    if issubclass(kind, unittest.TestCase):
        for method in unittest.TestLoader().getTestCaseNames(kind):
            yield "%s::%s" % (name, method), lambda method=method: as_unittest(kind(method))
    elif name.startswith("Test"):
        for method in [each for each in vars(kind) if each.startswith("test")]:
            yield from varied("%s::%s" % (name, method), getattr(kind(), method))


def varied(name, test):
    """Yield a test once for each set of parameters."""
    sets = [{}]
    for names, values in getattr(test, "parameters", []):
        split = [each.strip() for each in names.split(",")] if isinstance(names, str) else list(names)
        many = len(split) > 1 or not isinstance(names, str)
        sets = [{**one, **dict(zip(split, value if many else [value]))} for one in sets for value in values]
    for number, parameters in enumerate(sets):
        label = "%s[%d]" % (name, number) if getattr(test, "parameters", None) else name
        yield label, lambda parameters=parameters: test(**parameters)


def as_unittest(case):
    """Run a case with its own set-up, letting what it raises through."""
    result = unittest.TestResult()
    unittest.TestSuite([case]).run(result)
    if result.skipped:
        raise _Skipped
    if not result.wasSuccessful():
        raise AssertionError((result.errors + result.failures or [("", "unexpected success")])[0][1][-200:])


def outcome(action):
    """Return what came of a test."""
    try:
        action()
    except (_Skipped, unittest.SkipTest):
        return "skipped"
    except Exception as fault:
        return "failed: %s: %s" % (type(fault).__name__, str(fault)[:200])
    return "passed"


def stand_in():
    """Return a module that does what small tests use of pytest."""

    def parametrize(names, values, **_):
        def decorate(test):
            test.parameters = [(names, list(values)), *getattr(test, "parameters", [])]
            return test

        return decorate

    def skipped(where=True, *_, **__):
        return (lambda test: lambda: skip()) if where else unmarked

    def unmarked(*given, **_):
        return given[0] if given and callable(given[0]) else unmarked

    module, mark = types.ModuleType("pytest"), types.ModuleType("mark")
    # A mark of the suite's own does nothing.
    vars(mark).update(parametrize=parametrize, skip=lambda *_, **__: skipped(), skipif=skipped)
    vars(mark).update(__getattr__=lambda name: unmarked)
    # What it has not is an option of the suite's own, as pytest.run_slow.
    vars(module).update(raises=Raises, approx=Approx, skip=skip, mark=mark, __getattr__=lambda name: False)
    return module


def skip(reason="", **_):
    raise _Skipped(reason)


class Raises:
    """The block under it must raise."""

    def __init__(self, kind, match=None):
        self.kind, self.match, self.value = kind, match, None

    def __enter__(self):
        return self

    def __exit__(self, kind, value, _):
        import re

        assert kind is not None, "nothing was raised"
        self.value = value
        return issubclass(kind, self.kind) and (self.match is None or re.search(self.match, str(value)) is not None)


class Approx:
    """A number, or a list of them, that another is near to."""

    def __init__(self, expected, rel=1e-6, abs=1e-12):
        self.expected, self.rel, self.abs = expected, rel, abs

    def __eq__(self, seen):
        if isinstance(self.expected, (list, tuple)):
            pairs = zip(self.expected, seen)
            return len(seen) == len(self.expected) and all(Approx(a, self.rel, self.abs) == b for a, b in pairs)
        return math.isclose(seen, self.expected, rel_tol=self.rel if self.abs == 1e-12 else 0, abs_tol=self.abs)

    def __hash__(self):
        raise TypeError("a number that is only near to another")
