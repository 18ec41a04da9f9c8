"""What goes wrong."""


class PolicyError(ValueError):
    """A policy that cannot be read: says the line and why."""

    def __init__(self, line, reason):
        super().__init__(f"line {line}: {reason}")
        self.line = line
        self.reason = reason
