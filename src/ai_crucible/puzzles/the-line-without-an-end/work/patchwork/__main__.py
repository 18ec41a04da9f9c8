"""python3 -m patchwork PATCH [-C FOLDER] [-p PARTS] [-R] [--table]"""

import argparse
import sys
from pathlib import Path

from patchwork.folder import apply_to_folder
from patchwork.parse import PatchError, read_patch
from patchwork.show import table
from patchwork.turn import turned


def main(words=None):
    """Apply a patch; 1 where it does not fit, 2 where it cannot be read."""
    parser = argparse.ArgumentParser(prog="patchwork")
    parser.add_argument("patch", type=Path)
    parser.add_argument("-C", dest="folder", type=Path, default=Path("."))
    parser.add_argument("-p", dest="strip", type=int, default=1)
    parser.add_argument("-R", dest="back", action="store_true")
    parser.add_argument("--table", action="store_true")
    asked = parser.parse_args(words)
    try:
        with open(asked.patch, encoding="utf-8", newline="") as file:
            files = read_patch(file.read())
    except (OSError, PatchError) as fault:
        print(f"{asked.patch}: {fault}", file=sys.stderr)
        return 2
    if asked.back:
        files = turned(files)
    if asked.table:
        sys.stdout.write(table(files))
        return 0
    try:
        names = apply_to_folder(files, asked.folder, asked.strip)
    except ValueError as fault:
        print(f"{asked.patch}: {fault}", file=sys.stderr)
        return 1
    for name in names:
        print(name)
    return 0


if __name__ == "__main__":
    sys.exit(main())
