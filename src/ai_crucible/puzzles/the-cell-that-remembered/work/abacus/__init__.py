"""A small spreadsheet."""

from abacus.sheet import Sheet
from abacus.values import Error

__all__ = ["Error", "Sheet"]
