"""Works out when jobs are due."""

from wheel.fields import FieldError
from wheel.plan import Run, due
from wheel.schedule import Schedule
from wheel.table import Job, TableError, read_table, write_table

__all__ = ["FieldError", "Job", "Run", "Schedule", "TableError", "due", "read_table", "write_table"]
