"""python3 -m galley WIDTH < TEXT"""

import sys

from galley.wrap import wrap


def main(words=None, given=None):
    """Print a text in lines; 2 where no width is given."""
    words = sys.argv[1:] if words is None else words
    if len(words) != 1 or not (words[0].isascii() and words[0].isdigit() and int(words[0])):
        print("usage: python3 -m galley WIDTH < TEXT", file=sys.stderr)
        return 2
    text = sys.stdin.read() if given is None else given
    for line in wrap(text.removesuffix("\n"), int(words[0])):
        print(line)
    return 0


if __name__ == "__main__":
    sys.exit(main())
