class Refused(Exception):
    """Never, or not in this order."""


class Bucket:
    def __init__(self, capacity, every, start=0):
        if capacity <= 0 or every <= 0:
            raise ValueError("capacity and every are at least 1")
        self.every = every
        self.most = capacity * every
        self.credit = self.most
        self.time = start

    def _go(self, now, count=0):
        if now < self.time:
            raise Refused(f"{now} is before {self.time}")
        if count < 0:
            raise ValueError(count)
        if count * self.every > self.most:
            raise Refused(count)
        self.credit = min(self.most, self.credit + now - self.time)
        self.time = now

    def level(self, now):
        self._go(now)
        return self.credit // self.every

    def take(self, now, count=1):
        self._go(now, count)
        enough = self.credit >= count * self.every
        if enough:
            self.credit -= count * self.every
        return enough

    def wait(self, now, count=1):
        self._go(now, count)
        return max(0, count * self.every - self.credit)
