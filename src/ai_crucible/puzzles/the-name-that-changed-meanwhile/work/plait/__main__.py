"""python3 -m plait BASE OURS THEIRS"""

import sys
from pathlib import Path

from plait.errors import Fault
from plait.merge import merge


def main(words=None):
    """Write what three files come to; 1 where there are conflicts, 2 where something cannot be read."""
    words = sys.argv[1:] if words is None else words
    if len(words) != 3:
        print("usage: python3 -m plait BASE OURS THEIRS", file=sys.stderr)
        return 2
    try:
        merged = merge(*(Path(word).read_text(encoding="utf-8") for word in words))
    except (OSError, Fault) as fault:
        print(fault, file=sys.stderr)
        return 2
    print(merged.text, end="")
    for conflict in merged.conflicts:
        print(conflict, file=sys.stderr)
    return 1 if merged.conflicts else 0


if __name__ == "__main__":
    sys.exit(main())
