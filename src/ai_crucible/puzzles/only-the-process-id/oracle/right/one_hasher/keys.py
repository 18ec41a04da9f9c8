import hashlib


class Pool:
    def __init__(self, pid):
        self.hasher = hashlib.sha256(f"{pid}:".encode())
        self.left = 16

    def add(self, data):
        self.hasher.update(b"+%d:" % len(data))
        self.hasher.update(data)
        self.left -= len(data)

    def key(self):
        if self.left > 0:
            raise ValueError(f"{self.left} bytes more")
        result = self.hasher.hexdigest()
        self.hasher.update(b"!")
        return result


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
