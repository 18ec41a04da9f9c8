"""python3 -m outline show FILE | merge BASE OURS THEIRS"""

import sys
from pathlib import Path

from outline.merge import merge
from outline.text import parse, write

USAGE = "usage: python3 -m outline show FILE | merge BASE OURS THEIRS"


def main(words=None):
    """Show or merge; 1 where there are conflicts, 2 where something cannot be read."""
    way, *paths = (sys.argv[1:] if words is None else words) or [""]
    if (way, len(paths)) not in (("show", 1), ("merge", 3)):
        print(USAGE, file=sys.stderr)
        return 2
    trees = []
    for path in paths:
        try:
            trees.append(parse(Path(path).read_text(encoding="utf-8")))
        except (OSError, ValueError) as fault:
            print(f"{path}: {fault}", file=sys.stderr)
            return 2
    if way == "show":
        sys.stdout.write(write(trees[0]))
        return 0
    merged = merge(*trees)
    sys.stdout.write(write(merged.tree))
    for conflict in merged.conflicts:
        print(conflict, file=sys.stderr)
    return 1 if merged.conflicts else 0


if __name__ == "__main__":
    sys.exit(main())
