"""A text that can be undone."""


class Draft:
    """A text with its undo, its redo and its saved mark."""

    def __init__(self, text="", limit=100):
        raise NotImplementedError
