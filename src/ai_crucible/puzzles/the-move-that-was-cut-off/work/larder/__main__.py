"""python3 -m larder FOLDER show | put KEY FIELD=VALUE... | migrate"""

import sys

from larder.disk import Folder
from larder.migrate import migrate
from larder.store import load, put


def main(words=None):
    """Show, put or migrate; 1 where it cannot be done."""
    words = sys.argv[1:] if words is None else words
    try:
        match words:
            case [path, "show"]:
                show(load(Folder(path)))
            case [path, "put", key, *pairs]:
                fields = dict(pair.partition("=")[::2] for pair in pairs)
                print(f"{key} has revision {put(Folder(path), key, fields).revision}")
            case [path, "migrate"]:
                migrate(Folder(path))
            case _:
                print("usage: python3 -m larder FOLDER show | put KEY FIELD=VALUE... | migrate", file=sys.stderr)
                return 2
    except (OSError, ValueError) as fault:
        print(fault, file=sys.stderr)
        return 1
    return 0


def show(records):
    """Print records in the order of their keys."""
    for key in sorted(records):
        print(f"{key} ({records[key].revision})")
        for name in sorted(records[key].fields):
            print(f"  {name}: {records[key].fields[name]!r}")


if __name__ == "__main__":
    sys.exit(main())
