"""python3 -m loom FILE [NAME]"""

import sys
from pathlib import Path

from loom.program import run


def main(words=None):
    """Print texts; 1 where a file cannot be read or has no such name."""
    words = sys.argv[1:] if words is None else words
    if len(words) not in (1, 2):
        print("usage: python3 -m loom FILE [NAME]", file=sys.stderr)
        return 2
    try:
        texts = run(Path(words[0]).read_bytes().decode("utf-8"))
        if len(words) == 2:
            if words[1] not in texts:
                raise ValueError(f"{words[1]} is not defined")
            sys.stdout.write(texts[words[1]])
        else:
            for name, text in texts.items():
                print(f"{name}: {text!r}")
    except (OSError, ValueError) as fault:
        print(f"{words[0]}: {fault}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
