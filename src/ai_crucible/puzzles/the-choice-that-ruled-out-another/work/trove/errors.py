"""What goes wrong."""


class TroveError(ValueError):
    """A text that cannot be read; of an index it says the line, else that is 0."""

    def __init__(self, reason, line=0):
        super().__init__(f"line {line}: {reason}" if line else reason)
        self.line = line
        self.reason = reason


class Unresolvable(Exception):
    """What is wanted cannot be had together; ``wants`` are the texts that are to blame."""

    def __init__(self, wants):
        super().__init__("cannot be had together: " + ", ".join(wants))
        self.wants = list(wants)
