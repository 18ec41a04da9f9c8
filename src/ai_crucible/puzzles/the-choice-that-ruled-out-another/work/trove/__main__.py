"""python3 -m trove FILE WANT..."""

import sys
from pathlib import Path

from trove.errors import Unresolvable
from trove.explain import why
from trove.index import parse
from trove.resolve import resolve


def main(words=None):
    """Print versions, each with how it came in; 1 where there are none, 2 where something cannot be read."""
    words = sys.argv[1:] if words is None else words
    if len(words) < 2:
        print("usage: python3 -m trove FILE WANT...", file=sys.stderr)
        return 2
    path, *wants = words
    try:
        index = parse(Path(path).read_text(encoding="utf-8"))
        solution = resolve(index, wants)
    except Unresolvable as fault:
        print(fault)
        return 1
    except (OSError, ValueError) as fault:
        print(f"{path}: {fault}", file=sys.stderr)
        return 2
    for name in sorted(solution):
        print(name, solution[name], "by", " ".join(why(index, wants, solution, name)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
