"""What cannot be read."""


class LoomError(ValueError):
    """A file that cannot be read: says the line on which the definition begins, and why."""

    def __init__(self, line, reason):
        super().__init__(f"line {line}: {reason}")
        self.line = line
        self.reason = reason


class Fault(Exception):
    """What is wrong with an expression; it does not know its line."""
