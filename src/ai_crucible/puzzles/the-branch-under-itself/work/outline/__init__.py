"""Outlines, and how versions of them are merged."""

from outline.conflicts import Conflict
from outline.merge import Merged, merge
from outline.text import OutlineError, parse, write
from outline.tree import ROOT, Tree

__all__ = ["ROOT", "Conflict", "Merged", "OutlineError", "Tree", "merge", "parse", "write"]
