"""python3 -m kiln FOLDER"""

import sys
from pathlib import Path

from kiln.build import build
from kiln.disk import FolderDisk


def main(words=None):
    """Build in a folder; 1 where steps failed, 2 where there are no rules that can be read."""
    words = sys.argv[1:] if words is None else words
    if len(words) != 1:
        print("usage: python3 -m kiln FOLDER", file=sys.stderr)
        return 2
    try:
        result = build(FolderDisk(Path(words[0])))
    except (OSError, ValueError) as fault:
        print(f"{words[0]}: {fault}", file=sys.stderr)
        return 2
    for path in result.written:
        print("+", path)
    for path in result.deleted:
        print("-", path)
    for line, path in result.failed:
        print(f"line {line}: {path} failed", file=sys.stderr)
    return 1 if result.failed else 0


if __name__ == "__main__":
    sys.exit(main())
