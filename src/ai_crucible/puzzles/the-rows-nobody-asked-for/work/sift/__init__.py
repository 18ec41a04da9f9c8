"""Answers queries over shelves of rows."""

from sift.engine import answer
from sift.errors import QueryError
from sift.parser import parse
from sift.shelves import Shelf

__all__ = ["QueryError", "Shelf", "answer", "parse"]
