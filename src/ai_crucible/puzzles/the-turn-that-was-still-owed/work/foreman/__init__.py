"""When jobs run."""

from foreman.report import Outcome, Report, Run
from foreman.simulate import simulate
from foreman.table import Job, Table, TableError, read_table

__all__ = ["Job", "Outcome", "Report", "Run", "Table", "TableError", "read_table", "simulate"]
