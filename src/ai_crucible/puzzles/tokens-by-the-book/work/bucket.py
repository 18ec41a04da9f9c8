class Refused(Exception):
    """A request that can never be granted, or time that runs backwards."""


class Bucket:
    def __init__(self, capacity, every, start=0):
        self.capacity = capacity
        self.every = every
        self.start = start

    def level(self, now):
        raise NotImplementedError

    def take(self, now, count=1):
        raise NotImplementedError

    def wait(self, now, count=1):
        raise NotImplementedError
