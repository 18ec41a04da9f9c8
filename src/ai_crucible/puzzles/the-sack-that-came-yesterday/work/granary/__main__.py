"""python3 -m granary journal|short FILE [KNOWN] | stock FILE DAY [KNOWN]"""

import sys
from pathlib import Path

from granary.journal import journal
from granary.log import read
from granary.replay import short, stock

USAGE = "usage: python3 -m granary journal|short FILE [KNOWN] | stock FILE DAY [KNOWN]"


def main(words=None):
    """Print what is asked; 1 where the log cannot be read, 2 where the words are others."""
    way, *rest = (sys.argv[1:] if words is None else words) or [""]
    counts = {"journal": (1, 2), "short": (1, 2), "stock": (2, 3)}.get(way, ())
    if len(rest) not in counts or not all(word.isdigit() for word in rest[1:]):
        print(USAGE, file=sys.stderr)
        return 2
    path, *numbers = rest[0], *map(int, rest[1:])
    try:
        ledger = read(Path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError) as fault:
        print(f"{path}: {fault}", file=sys.stderr)
        return 1
    if way == "journal":
        print(*journal(ledger, *numbers), sep="\n")
    elif way == "short":
        print(*(f"{number} {qty}" for number, qty in sorted(short(ledger, *numbers).items())), sep="\n")
    else:
        rows = sorted(stock(ledger, *numbers).items())
        print(*(f"{store} {good} {qty} {value}" for (store, good), (qty, value) in rows), sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
