"""When jobs run, by clocks in many zones."""

from rota.job import Job
from rota.missed import catch_up
from rota.plan import Run, due, next_run
from rota.table import TableError, read_table
from rota.zones import Zone

__all__ = ["Job", "Run", "TableError", "Zone", "catch_up", "due", "next_run", "read_table"]
