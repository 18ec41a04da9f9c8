"""Applies unified diffs."""

from patchwork.apply import Conflict, apply_hunks
from patchwork.folder import apply_to_folder
from patchwork.parse import FilePatch, Hunk, PatchError, read_patch
from patchwork.show import table
from patchwork.turn import turned

__all__ = ["Conflict", "FilePatch", "Hunk", "PatchError", "apply_hunks", "apply_to_folder", "read_patch", "table", "turned"]
