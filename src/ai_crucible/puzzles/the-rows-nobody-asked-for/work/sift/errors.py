"""What goes wrong."""


class QueryError(ValueError):
    """A query that cannot be read, or speaks of what is not there."""
