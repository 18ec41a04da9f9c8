import hashlib
import hmac


class Pool:
    def __init__(self, pid):
        self.secret = str(pid).encode()
        self.size = 0
        self.taken = 0

    def add(self, data):
        self.secret = hmac.digest(self.secret, b"%d:%d:" % (self.taken, len(data)) + data, "sha256")
        self.size += len(data)

    def key(self):
        if self.size < 16:
            raise ValueError
        self.taken += 1
        return hmac.new(self.secret, b"key %d" % self.taken, hashlib.sha256).hexdigest()


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
