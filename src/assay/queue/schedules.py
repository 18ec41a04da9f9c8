"""Runs that repeat: kept in the database, put into the queue by whichever worker looks first."""

from __future__ import annotations

import re
import time
from datetime import UTC, datetime
from random import SystemRandom

from assay.queue.entry import Entry
from assay.queue.tables import SQL, put_once
from llm_runtime.errors import RunNotFound
from llm_runtime.store import new_run_id
from llm_runtime.store.database import Database
from llm_runtime.structs import Struct

#: A moment that nobody was there for is made up for within so many seconds; longer ago it is left out.
_LATE_S = 600
#: What a star stands for in each field of a cron expression.
_WHOLE = ("0-59", "0-23", "1-31", "1-12", "0-6")


class Schedule(Struct):
    """What repeats.

    Args:
        name: of the schedule.
        cron: when, in UTC.
        priority: of each run.
        since: microseconds since the epoch; no moment before it counts.
        entry: what is put into the queue each time, under an id of its own.
    """

    name: str
    cron: str
    priority: int
    since: int
    entry: Entry


def last_moment(cron: str, now_s: float) -> int | None:
    """Return the last moment of a cron expression up to ``now_s``, both in seconds since the epoch.

    ``None`` where it is no expression of five fields, or there is no such moment.
    """
    from cronsim import CronSim, CronSimError

    fields = [_plain(*one) for one in zip(cron.replace("?", "*").split(), _WHOLE, strict=False)]
    if len(fields) != len(cron.split()):
        return None
    try:
        after = datetime.fromtimestamp(int(now_s) + 1, UTC)
        return int(next(CronSim(" ".join(fields), after, reverse=True)).timestamp())
    except (CronSimError, StopIteration):
        return None


def _plain(field: str, whole: str) -> str:
    """Write out a field's ranges, none of them past its end: that is ``whole``'s.

    Either day may fit, unless one is a plain star. To the library ``*/2`` would be a star too.
    """
    if {"*", "*/1"} & set(field.split(",")):
        return "*"
    low, high = whole.split("-")

    def upwards(found: re.Match[str]) -> str:
        start, end = found.groups()
        return found[0] if int(start) <= int(end) else f"{start}-{high},{low}-{end}"

    field = re.sub("-sun", "-7", field.replace("*/", f"{whole}/"), flags=re.IGNORECASE)
    field = re.sub(r"(?<![\w-])(\w+)/", rf"\1-{high}/", field)
    return re.sub(r"\b(\d+)-(\d+)\b(?!/)", upwards, field)


def schedule(database: Database, cron: str, entry: Entry, priority: int, after: datetime | None = None) -> str:
    """Keep a run that repeats, from ``after`` on, or from now; return the schedule's name."""
    since = after and int(after.timestamp() * 1_000_000)
    database.execute(
        SQL["schedule"], (entry.run_id, cron, priority, since, entry.model_dump_json(exclude_defaults=True))
    )
    return entry.run_id


def schedules(database: Database) -> list[Schedule]:
    """Return everything that repeats, by name."""
    rows = database.execute("SELECT name, cron, priority, since, entry FROM queue_schedules ORDER BY name")
    return [
        Schedule(name, cron, priority, since, Entry.model_validate_json(entry))
        for name, cron, priority, since, entry in rows
    ]


def unschedule(database: Database, name: str) -> None:
    """Forget a schedule; what it has put into the queue stays there. Raises :class:`RunNotFound`."""
    if not database.execute("DELETE FROM queue_schedules WHERE name = ? RETURNING 1", (name,)):
        raise RunNotFound(f"there is no schedule {name[:80]!r}", advice="list them with: assay queue list")


def put_due(database: Database, now_s: float | None = None) -> list[str]:
    """Put there what is due, each once however many workers look; return the runs' ids."""
    now_s = time.time() if now_s is None else now_s
    put: list[str] = []
    for each in schedules(database):
        moment = last_moment(each.cron, now_s)
        # `assay queue list` says which have none.
        if moment is None or now_s - moment > _LATE_S or moment * 1_000_000 < each.since:
            continue
        run_id = new_run_id(moment * 1000, SystemRandom())
        if put_once(database, each.entry.model_copy(update={"run_id": run_id}), each.priority, each.name, moment):
            put.append(run_id)
    return put
