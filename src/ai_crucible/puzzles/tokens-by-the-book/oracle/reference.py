"""Right answers by a way of their own, and the inputs that they are asked for."""

class Model:
    """The specification step by step: a token for each millisecond at which one comes."""

    def __init__(self, capacity, every, start):
        self.capacity, self.every = capacity, every
        self.tokens, self.now, self.gone = capacity, start, 0

    def pass_to(self, now):
        while self.now < now:
            if self.tokens == self.capacity:
                self.now, self.gone = now, 0
                return
            step = min(now - self.now, self.every - self.gone)
            self.now += step
            self.gone += step
            if self.gone == self.every:
                self.tokens, self.gone = self.tokens + 1, 0

    def call(self, name, now, count=1):
        if now < self.now:
            return "Refused"
        if name != "level" and count < 0:
            return "ValueError"
        if name != "level" and count > self.capacity:
            return "Refused"
        self.pass_to(now)
        if name == "level":
            return self.tokens
        if name == "wait":
            return 0 if self.tokens >= count else (count - self.tokens) * self.every - self.gone
        if self.tokens < count:
            return False
        self.tokens -= count
        self.gone = 0 if self.tokens == self.capacity else self.gone
        return True


def case(capacity, every, start, calls):
    if capacity < 1 or every < 1:
        return {"args": [capacity, every, start, calls], "expect": ["ValueError"]}
    model = Model(capacity, every, start)
    return {"args": [capacity, every, start, calls], "expect": [model.call(*call) for call in calls]}


def plays(random):
    yield case(3, 10, 0, [["take", 5], ["level", 14], ["level", 15], ["take", 15, 3], ["wait", 20, 1], ["wait", 20, 3]])
    yield case(3, 10, 0, [["take", 5, 0], ["take", 9], ["level", 18], ["level", 19]])
    yield case(2, 10, 100, [["level", 99], ["take", 100, 3], ["take", 50, -1], ["take", 100, -1], ["take", 100, 0], ["take", 100, 2], ["take", 105], ["take", 110], ["wait", 110]])
    yield case(2, 10, 0, [["take", 500, 9], ["level", 20], ["take", 20, -1], ["level", 10], ["wait", 700, 9], ["level", 30], ["level", 29]])
    yield case(1, 1, 0, [["take", 0], ["take", 0], ["take", 1], ["wait", 1], ["level", 2], ["take", 1000], ["level", 1000]])
    while True:
        capacity, every, now = random.randint(1, 6), random.choice([1, 2, 7, 10]), random.randint(-5, 50)
        start, calls = now, []
        for _ in range(random.randint(1, 25)):
            now += random.choice([0, 0, 1, every - 1, every, every + 1, random.randint(0, 40), -1])
            name = random.choice(["take", "take", "take", "level", "wait"])
            count = random.choice([1, 1, 1, 2, capacity, capacity + 1, 0, -1, random.randint(1, 6)])
            calls.append([name, now] if name == "level" or random.random() < 0.3 else [name, now, count])
        yield case(capacity, every, start, calls)


class Full:
    """Numbers of any size: only the moment at which it will be full."""

    def __init__(self, capacity, every, start):
        self.capacity, self.every, self.full = capacity, every, start

    def call(self, name, now, count=1):
        level = self.capacity - max(0, -((now - self.full) // self.every))
        if name == "level":
            return level
        if name == "wait":
            return max(0, self.full - (self.capacity - count) * self.every - now)
        if level < count:
            return False
        self.full = max(self.full, now) + count * self.every
        return True


def vast(random):
    def number(least):
        return max(least, 10 ** random.randint(0, 30) + random.randint(-2, 9))

    def play(capacity, every, start, calls):
        model = Full(capacity, every, start)
        return {"args": [capacity, every, start, calls], "expect": [model.call(*call) for call in calls]}

    yield play(10**17 + 1, 1, 0, [["take", 0, 10**17 + 1], ["level", 3], ["wait", 3, 10**17 + 1]])
    yield play(3, 10**20 + 1, 0, [["take", 0, 3], ["level", 10**20], ["wait", 10**20], ["level", 10**20 + 1]])
    yield play(2, 10, 10**30 + 5, [["take", 10**30 + 5, 2], ["level", 10**30 + 14], ["level", 10**30 + 15]])
    while True:
        capacity, every = number(1), random.choice([1, 3, random.randint(1, 9), number(1)])
        start = now = random.choice([0, 0, number(0), -number(0)])
        calls = [["take", now, capacity]]
        for _ in range(random.randint(2, 9)):
            now += random.choice([0, 1, 3, every - 1, every, every + 1, 2 * every, number(0)])
            count = min(capacity, random.choice([0, 1, 3, number(1), capacity - 1, capacity]))
            calls.append(random.choice([["level", now], ["wait", now, count], ["take", now, count], ["level", now]]))
        yield play(capacity, every, start, calls)


def far(random):
    while True:
        capacity, every, far = 10 ** random.randint(1, 12), random.randint(1, 9), 10 ** random.randint(9, 15)
        calls = [["take", 0, capacity], ["level", far], ["wait", far, capacity]]
        level = min(capacity, far // every)
        wait = 0 if level == capacity else (capacity - level) * every - far % every
        yield {"args": [capacity, every, 0, calls], "expect": [True, level, wait]}


def no_bucket(random):
    for capacity, every in ((0, 1), (1, 0), (-1, 5), (5, -1)):
        yield case(capacity, every, 0, [])


def kinds(random):
    yield {"args": [], "expect": [True, False, 3, True, 0, "Refused", "Refused"]}


def names(random):
    while True:
        yield {"args": [3, 10, 0, []], "expect": []}


def at_once(random):
    """Several buckets in turn, asked by the names of their arguments too."""
    while True:
        models, made, calls, expect = [], [], [], []
        for _ in range(random.randint(2, 3)):
            capacity, every, start = random.randint(1, 5), random.choice([1, 3, 10]), random.randint(-20, 20)
            models.append(Model(capacity, every, start))
            made.append({"capacity": capacity, "every": every, "start": start})
        now = 20
        for _ in range(random.randint(4, 25)):
            now += random.choice([0, 0, 1, 3, 10, -1])
            which, name = random.randrange(len(models)), random.choice(["take", "take", "level", "wait"])
            given = {"now": now} if name == "level" or random.random() < 0.3 else {"now": now, "count": random.choice([0, 1, 1, 2, 5, 6, -1])}
            calls.append([which, name, given])
            expect.append(models[which].call(name, *given.values()))
        yield {"args": [made, calls], "expect": expect}
