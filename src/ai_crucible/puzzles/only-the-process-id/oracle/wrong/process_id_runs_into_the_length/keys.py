import hashlib


class Pool:
    def __init__(self, pid):
        self.total = 0
        self.state = hashlib.sha256(str(pid).encode())

    def add(self, data):
        self.state.update(b"%d:" % len(data) + data)
        self.total += len(data)

    def key(self):
        if self.total < 16:
            raise ValueError("fewer than 16 bytes")
        found = self.state.copy()
        self.state.update(b"key")
        return found.hexdigest()


def trial(pid, additions, count=1):
    pool = Pool(pid)
    for text in additions:
        pool.add(text.encode())
    return [pool.key() for _ in range(count)]


def distinct(pids, histories, count):
    keys = [key for pid in pids for history in histories for key in trial(pid, history, count)]
    return [len(set(keys)), len(keys), sorted({len(key) for key in keys})]


def same(pid, history):
    return trial(pid, history, 3) == trial(pid, history, 3)
