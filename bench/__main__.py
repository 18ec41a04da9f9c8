"""Measure everything and print one line a figure; exit code 1 where a bound is not held."""

from __future__ import annotations

import platform
import sys

from bench import councils, processes


def main() -> int:
    print(f"Python {platform.python_version()} on {platform.machine()}; everything measured in this one run\n")
    held = True
    for module in (councils, processes):
        for figure in module.figures():
            print(figure.row(), flush=True)
            held &= figure.held
    return 0 if held else 1


if __name__ == "__main__":
    sys.exit(main())
