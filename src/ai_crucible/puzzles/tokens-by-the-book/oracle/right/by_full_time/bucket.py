class Refused(Exception):
    pass


class Bucket:
    """Keeps only the time at which it will be full."""

    def __init__(self, capacity, every, start=0):
        if min(capacity, every) < 1:
            raise ValueError((capacity, every))
        self._capacity, self._every = capacity, every
        self._full_at = self._now = start

    def _check(self, now, count):
        if now < self._now:
            raise Refused
        if count < 0:
            raise ValueError(count)
        if count > self._capacity:
            raise Refused
        self._now = now
        self._full_at = max(self._full_at, now)

    def _missing(self, now):
        return -(-(self._full_at - now) // self._every)

    def level(self, now):
        self._check(now, 0)
        return self._capacity - self._missing(now)

    def take(self, now, count=1):
        self._check(now, count)
        if self._capacity - self._missing(now) < count:
            return False
        self._full_at += count * self._every
        return True

    def wait(self, now, count=1):
        self._check(now, count)
        return max(0, self._full_at - now - (self._capacity - count) * self._every)
