"""What goes wrong."""


class StashError(ValueError):
    """A request that is refused."""


class ScriptError(ValueError):
    """A script that cannot be read: says the line and why."""

    def __init__(self, line, reason):
        super().__init__(f"line {line}: {reason}")
        self.line = line
        self.reason = reason
