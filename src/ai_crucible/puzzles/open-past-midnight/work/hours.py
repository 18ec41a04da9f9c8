"""When a shop is open."""


class Hours:
    """Opening hours of a week that repeats."""

    def __init__(self, text):
        raise NotImplementedError
