"""Texts and tables on a screen of cells."""

from galley.clusters import clusters, width
from galley.columns import Cell, columns
from galley.fit import fit
from galley.table import table
from galley.wrap import wrap

__all__ = ["Cell", "clusters", "columns", "fit", "table", "width", "wrap"]
