class Refused(Exception):
    """A request that can never be granted, or time that runs backwards."""


class Bucket:
    def __init__(self, capacity, every, start=0):
        if capacity < 1 or every < 1:
            raise ValueError("at least one token, and one millisecond")
        self.capacity = capacity
        self.every = every
        self.tokens = capacity
        self.since = start
        self.last = start

    def seen(self, now, count):
        """Return the tokens at a time, and since when the next one is on its way."""
        if now < self.last:
            raise Refused("time runs backwards")
        if count < 0:
            raise ValueError("less than nothing")
        if count > self.capacity:
            raise Refused("more than there ever is")
        self.last = now
        come = (now - self.since) // self.every
        if self.tokens + come >= self.capacity:
            self.tokens, self.since = self.capacity, now
        else:
            self.tokens, self.since = self.tokens + come, self.since + come * self.every
        return self.tokens

    def level(self, now):
        return self.seen(now, 0)

    def take(self, now, count=1):
        if self.seen(now, count) < count:
            return False
        self.tokens -= count
        return True

    def wait(self, now, count=1):
        missing = count - self.seen(now, count)
        return self.since + missing * self.every - now if missing > 0 else 0
