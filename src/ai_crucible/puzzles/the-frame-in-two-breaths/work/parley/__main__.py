"""python3 -m parley read FILE [SIZE] | write FILE ID SIZE"""

import sys
from pathlib import Path

from parley.reader import Reader
from parley.writer import frames

USAGE = "usage: python3 -m parley read FILE [SIZE] | write FILE ID SIZE"


def main(words=None):
    """Read or write; 1 where a file cannot be opened, 2 where the words are others."""
    way, *rest = (sys.argv[1:] if words is None else words) or [""]
    numbers = rest[1:]
    known = (way == "read" and len(rest) in (1, 2)) or (way == "write" and len(rest) == 3)
    if not known or not all(each.isdigit() and int(each) for each in numbers):
        print(USAGE, file=sys.stderr)
        return 2
    try:
        data = Path(rest[0]).read_bytes()
    except OSError as fault:
        print(f"{rest[0]}: {fault}", file=sys.stderr)
        return 1
    if way == "write":
        sys.stdout.write(frames(int(numbers[0]), data.decode("utf-8"), int(numbers[1])).decode("utf-8"))
        return 0
    reader, size = Reader(), int(numbers[0]) if numbers else max(1, len(data))
    events = [event for at in range(0, len(data), size) for event in reader.feed(data[at : at + size])]
    for event in [*events, *reader.close()]:
        print(event)
    return 0


if __name__ == "__main__":
    sys.exit(main())
