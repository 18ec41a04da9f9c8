import hashlib


class Pool:
    def __init__(self, pid):
        self.history = [b"pid %d" % pid]
        self.size = 0
        self.taken = 0

    def add(self, data):
        self.history.append(bytes(data))
        self.size += len(data)

    def key(self):
        if self.size < 16:
            raise ValueError("not enough entropy")
        self.taken += 1
        self.history.append(b"key %d" % self.taken)
        return hashlib.sha256(b"\0".join(self.history)).hexdigest()


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
