import math


class Refused(Exception):
    """A request that can never be granted, or time that runs backwards."""


class Bucket:
    """Remembers only when it will be full again."""

    def __init__(self, capacity, every, start=0):
        if min(capacity, every) < 1:
            raise ValueError((capacity, every))
        self.capacity = capacity
        self.every = every
        self.start = start
        self.last = start
        self.full_at = start

    def _enter(self, now, count=0):
        if now < self.last:
            raise Refused(now)
        if count < 0:
            raise ValueError(count)
        if count > self.capacity:
            raise Refused(count)
        self.last = now

    def _there(self, now):
        missing = math.ceil(max(self.full_at - now, 0) / self.every)
        return self.capacity - missing

    def level(self, now):
        self._enter(now)
        return self._there(now)

    def take(self, now, count=1):
        self._enter(now, count)
        if self._there(now) < count:
            return False
        self.full_at = max(self.full_at, now) + count * self.every
        return True

    def wait(self, now, count=1):
        self._enter(now, count)
        # `count` are there when no more than capacity - count are missing
        return max(0, self.full_at - (self.capacity - count) * self.every - now)
