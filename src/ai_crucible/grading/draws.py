"""Runs beside the grader: what the oracle's reference draws for one trial."""

# pyright: basic
# It runs alone in the box, under whatever Python is there.

import importlib
import itertools
import os
import random
import sys

ORACLE = "/oracle"


class BadOracle(Exception):
    """The oracle is not one that can grade."""


class Draw:
    """What the reference draws for one trial: from its seed, the same in every process."""

    def __init__(self, seed, count=0):
        self.seed, self.count = seed, count
        self.reference, self.drawn, self.known = None, (), {}
        if os.path.exists(os.path.join(ORACLE, "reference.py")):
            sys.path.insert(0, ORACLE)
            sys.dont_write_bytecode = True
            try:
                self.reference = importlib.import_module("reference")
                if hasattr(self.reference, "draw"):
                    self.drawn = (self.reference.draw(random.Random("%s" % seed)),)
            except Exception as fault:
                raise BadOracle("reference.py: %s: %s" % (type(fault).__name__, fault))

    def function(self, check):
        """Return the function of the reference that a check names."""
        try:
            return getattr(self.reference, check["by"])
        except AttributeError:
            raise BadOracle("check %r: reference.py has no function %s" % (check["name"], check["by"]))

    def cases(self, check):
        """Return a check's cases: those that are written down, then those that are drawn."""
        if check["name"] in self.known:
            return self.known[check["name"]]
        cases = self.known[check["name"]] = list(check.get("cases", []))
        if "drawn" in check:
            for case in itertools.islice(self.yielded(check), self.many(check["drawn"])):
                cases.append({"args": [], "args_after": case.get("args", []), **case, "exact": True})
        return cases

    def yielded(self, check):
        """Return the cases that a check's function yields."""
        return self.function(check)(random.Random("%s/%s" % (self.seed, check["name"])), *self.drawn)

    def goes_on(self, check):
        """Tell whether a check could draw more cases than it asks for."""
        return next(itertools.islice(self.yielded(check), check["drawn"], None), None) is not None

    def many(self, usual):
        """Return how many cases of a check are drawn: at least so many as were asked for, or below 0 at most."""
        return max(self.count, usual) if self.count >= 0 else min(-self.count, usual)
