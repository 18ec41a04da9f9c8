"""python3 -m strata SCHEMA VERSION < RECORDS > RECORDS"""

import sys
from pathlib import Path

from strata.schema import read_schema
from strata.store import migrate


def main(words=None, given=None):
    """Print records at a version; 1 where some are faulty or the schema cannot be read."""
    words = sys.argv[1:] if words is None else words
    if len(words) != 2 or not (words[1].isascii() and words[1].isdigit()):
        print("usage: python3 -m strata SCHEMA VERSION < RECORDS > RECORDS", file=sys.stderr)
        return 2
    try:
        schema = read_schema(Path(words[0]).read_text(encoding="utf-8"))
    except (OSError, ValueError) as fault:
        print(f"{words[0]}: {fault}", file=sys.stderr)
        return 1
    text, faults = migrate(schema, sys.stdin.read() if given is None else given, int(words[1]))
    print(text, end="")
    for line, reason in faults:
        print(f"line {line}: {reason}", file=sys.stderr)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
