"""Measure everything, or the parts named, and print one line a figure; exit code 1 where a bound is not held.

``python -m bench`` or ``python -m bench councils circle``; ``python -m bench instructions`` is measured only by name.
"""

from __future__ import annotations

import platform
import sys
from importlib import import_module

#: Each is a module of this package with ``figures()``, which measures and yields.
PARTS = ("councils", "processes", "circle", "debates", "trials", "builds", "languages", "pages", "programs", "batches")
#: Those that are measured where they are named: they take minutes.
NAMED = ("instructions",)


def main(names: list[str]) -> int:
    unknown = sorted(set(names) - {*PARTS, *NAMED})
    if unknown:
        print(f"there is no part {', '.join(unknown)}; there are {', '.join((*PARTS, *NAMED))}", file=sys.stderr)
        return 2
    print(f"Python {platform.python_version()} on {platform.machine()}; everything measured in this one run\n")
    held = True
    for name in names or PARTS:
        for figure in import_module(f"bench.{name}").figures():
            print(figure.row(), flush=True)
            held &= figure.held
    return 0 if held else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
