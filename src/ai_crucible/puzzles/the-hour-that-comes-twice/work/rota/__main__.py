"""python3 -m rota TABLE due FROM TO | TABLE next NAME FROM"""

import sys
from pathlib import Path

from rota.plan import due, next_run
from rota.table import instant, read_table

USAGE = "usage: python3 -m rota TABLE due FROM TO | TABLE next NAME FROM"


def main(words=None):
    """Print runs; 1 where something cannot be read."""
    words = sys.argv[1:] if words is None else words
    if len(words) != 4 or words[1] not in ("due", "next"):
        print(USAGE, file=sys.stderr)
        return 2
    try:
        jobs = read_table(Path(words[0]).read_text(encoding="utf-8"))
        if words[1] == "due":
            for run in due(jobs, instant(words[2]), instant(words[3])):
                print(shown(run.at, run.job))
            return 0
        named = [job for job in jobs if job.name == words[2]]
        if not named:
            raise ValueError(f"{words[2]!r} is no job")
        at = next_run(named[0], instant(words[3]))
        print(shown(at, named[0]) if at else "never")
    except (OSError, ValueError) as fault:
        print(f"{words[0]}: {fault}", file=sys.stderr)
        return 1
    return 0


def shown(at, job):
    """Return an instant, what the job's clock shows then, and the job's name."""
    return f"{at:%Y-%m-%dT%H:%M}  {job.zone.local(at):%a %H:%M}  {job.name}"


if __name__ == "__main__":
    sys.exit(main())
