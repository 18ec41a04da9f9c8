"""python3 -m porter POLICY why USER ACTION PATH | who ACTION PATH | idle"""

import sys
from pathlib import Path

from porter.decide import why
from porter.reports import idle, who
from porter.text import read_policy

USAGE = "usage: python3 -m porter POLICY why USER ACTION PATH | who ACTION PATH | idle"


def main(words=None):
    """Print an answer; 1 where something cannot be read."""
    words = sys.argv[1:] if words is None else words
    if [len(words), *words[1:2]] not in ([5, "why"], [4, "who"], [2, "idle"]):
        print(USAGE, file=sys.stderr)
        return 2
    try:
        policy = read_policy(Path(words[0]).read_text(encoding="utf-8"))
        print(answer(policy, *words[1:]))
    except (OSError, ValueError) as fault:
        print(f"{words[0]}: {fault}", file=sys.stderr)
        return 1
    return 0


def answer(policy, way, *words):
    """Return what is asked for as text."""
    if way == "why":
        reason = why(policy, *words)
        through = f" ({' > '.join(reason.chain)})" if reason.chain else ""
        return f"{'yes' if reason.allowed else 'no'}, line {reason.line}{through}"
    if way == "who":
        users, others = who(policy, *words)
        return " ".join([*users, *(["and others"] if others else [])]) or "nobody"
    return " ".join(map(str, idle(policy))) or "none"


if __name__ == "__main__":
    sys.exit(main())
