class Refused(Exception):
    pass


class Bucket:
    def __init__(self, capacity, every, start=0):
        if capacity < 1:
            raise ValueError("capacity")
        if every < 1:
            raise ValueError("every")
        self.capacity, self.every, self.time = capacity, every, start
        self.missing, self.next = 0, None

    def _advance(self, now):
        if self.missing and now >= self.next:
            come = min(self.missing, 1 + (now - self.next) // self.every)
            self.missing -= come
            self.next += come * self.every
        self.time = now

    def _ask(self, now, count):
        if now < self.time:
            raise Refused("backwards")
        if count < 0:
            raise ValueError("negative")
        if count > self.capacity:
            raise Refused("never")
        self._advance(now)

    def level(self, now):
        self._ask(now, 0)
        return self.capacity - self.missing

    def take(self, now, count=1):
        self._ask(now, count)
        if count > self.capacity - self.missing:
            return False
        if count:
            if not self.missing:
                self.next = now + self.every
            self.missing += count
        return True

    def wait(self, now, count=1):
        self._ask(now, count)
        lack = count - (self.capacity - self.missing)
        return 0 if lack <= 0 else self.next - now + (lack - 1) * self.every
