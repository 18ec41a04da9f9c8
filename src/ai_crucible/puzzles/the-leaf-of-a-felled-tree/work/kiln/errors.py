"""What goes wrong."""


class KilnError(ValueError):
    """Rules that cannot be read: says the line and why."""

    def __init__(self, line, reason):
        super().__init__(f"line {line}: {reason}")
        self.line = line
        self.reason = reason


class ToolError(Exception):
    """A tool cannot make anything of a file."""
