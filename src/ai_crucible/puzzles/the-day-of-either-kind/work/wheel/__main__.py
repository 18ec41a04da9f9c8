"""python3 -m wheel TABLE [--from MOMENT] [--days N] [--counts]   or   python3 -m wheel --next SCHEDULE"""

import argparse
import sys
from datetime import datetime, timedelta
from pathlib import Path

from wheel.fields import FieldError
from wheel.plan import due
from wheel.schedule import Schedule
from wheel.show import by_day, counts
from wheel.table import TableError, read_table


def main(words=None):
    """Print a plan; 1 where a table or a schedule cannot be read."""
    parser = argparse.ArgumentParser(prog="wheel")
    parser.add_argument("table", type=Path, nargs="?")
    parser.add_argument("--from", dest="since", type=datetime.fromisoformat, default=None)
    parser.add_argument("--days", type=int, default=1)
    parser.add_argument("--counts", action="store_true")
    parser.add_argument("--next", dest="next_of")
    asked = parser.parse_args(words)
    since = asked.since or datetime.now().replace(second=0, microsecond=0)
    try:
        if asked.next_of is not None:
            print(Schedule.read(asked.next_of).after(since) or "never")
            return 0
        if asked.table is None:
            parser.error("a table is missing")
        runs = due(read_table(asked.table.read_text(encoding="utf-8")), since, since + timedelta(days=asked.days))
    except (TableError, FieldError) as fault:
        print(f"wheel: {fault}", file=sys.stderr)
        return 1
    sys.stdout.write(counts(runs) if asked.counts else by_day(runs))
    return 0


if __name__ == "__main__":
    sys.exit(main())
