"""python3 -m stash SCRIPT"""

import sys
from pathlib import Path

from stash.script import follow


def main(words=None):
    """Print what comes of a script; 1 where it cannot be read."""
    words = sys.argv[1:] if words is None else words
    if len(words) != 1:
        print("usage: python3 -m stash SCRIPT", file=sys.stderr)
        return 2
    try:
        for line in follow(Path(words[0]).read_text(encoding="utf-8")):
            print(line)
    except (OSError, ValueError) as fault:
        print(f"{words[0]}: {fault}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
