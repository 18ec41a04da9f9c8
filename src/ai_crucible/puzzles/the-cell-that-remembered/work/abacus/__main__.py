"""python3 -m abacus FILE"""

import sys
from pathlib import Path

from abacus.sheet import Sheet
from abacus.show import table
from abacus.values import written


def run(lines, say):
    """Follow commands, one a line; ValueError where one is none."""
    sheet = Sheet()
    for number, line in enumerate(lines, 1):
        line = line.strip()
        try:
            if not line or line.startswith("#"):
                continue
            if line == "show":
                say(table(sheet))
            elif line.startswith("?"):
                say(written(sheet.value(line[1:])) + "\n")
            elif "=" in line:
                name, _, text = line.partition("=")
                sheet.set(name, text)
            else:
                raise ValueError("no such command")
        except ValueError as fault:
            raise ValueError(f"line {number}: {fault}") from None
    return sheet


def main(words=None):
    """Run a file of commands; 1 where it cannot be read."""
    words = sys.argv[1:] if words is None else words
    if len(words) != 1:
        print("usage: python3 -m abacus FILE", file=sys.stderr)
        return 2
    try:
        run(Path(words[0]).read_text(encoding="utf-8").splitlines(), sys.stdout.write)
    except (OSError, ValueError) as fault:
        print(f"{words[0]}: {fault}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
