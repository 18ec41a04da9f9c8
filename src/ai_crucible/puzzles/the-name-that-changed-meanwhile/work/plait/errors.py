"""What goes wrong."""


class Fault(ValueError):
    """A text that cannot be read: why, in which line, and of a merge in which version."""

    def __init__(self, reason, line=0, version=""):
        super().__init__(f"{version} line {line}: {reason}".strip())
        self.reason = reason
        self.line = line
        self.version = version
