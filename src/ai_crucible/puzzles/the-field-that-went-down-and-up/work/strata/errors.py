"""What goes wrong."""


class SchemaError(ValueError):
    """A schema that cannot be read: says the line and why."""

    def __init__(self, line, reason):
        super().__init__(f"line {line}: {reason}")
        self.line = line
        self.reason = reason


class RecordError(ValueError):
    """A record that cannot be used."""
