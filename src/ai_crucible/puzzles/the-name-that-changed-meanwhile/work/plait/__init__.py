"""Merges three versions of a tree of records."""

from plait.conflicts import Conflict
from plait.errors import Fault
from plait.merge import Merged, merge
from plait.reader import parse
from plait.writer import write

__all__ = ["Conflict", "Fault", "Merged", "merge", "parse", "write"]
