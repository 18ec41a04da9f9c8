"""Makes files from files by rules."""

from kiln.build import Result, build
from kiln.disk import Disk
from kiln.errors import KilnError, ToolError
from kiln.tools import TOOLS

__all__ = ["TOOLS", "Disk", "KilnError", "Result", "ToolError", "build"]
