"""A language of texts."""

from loom.errors import LoomError
from loom.program import run

__all__ = ["LoomError", "run"]
