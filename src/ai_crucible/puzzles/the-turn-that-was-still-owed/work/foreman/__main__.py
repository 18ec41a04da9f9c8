"""python3 -m foreman TABLE"""

import sys
from pathlib import Path

from foreman.simulate import simulate
from foreman.table import read_table


def main(words=None):
    """Print runs and outcomes; 1 where the table cannot be read."""
    words = sys.argv[1:] if words is None else words
    if len(words) != 1:
        print("usage: python3 -m foreman TABLE", file=sys.stderr)
        return 2
    try:
        report = simulate(read_table(Path(words[0]).read_text(encoding="utf-8")))
    except (OSError, ValueError) as fault:
        print(f"{words[0]}: {fault}", file=sys.stderr)
        return 1
    for run in report.runs:
        print(f"{run.start} to {run.end}: {run.job.name}")
    for name, outcome in report.outcomes.items():
        when = "" if outcome.at is None else f" at {outcome.at}"
        print(f"{name}: {outcome.state}{when}, {outcome.lost} lost")
    return 0


if __name__ == "__main__":
    sys.exit(main())
