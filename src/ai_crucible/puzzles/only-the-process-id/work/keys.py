import hashlib


class Pool:
    def __init__(self, pid):
        self.state = str(pid).encode()

    def add(self, data):
        hashlib.sha256(self.state + data).digest()

    def key(self):
        return hashlib.sha256(self.state).hexdigest()


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
