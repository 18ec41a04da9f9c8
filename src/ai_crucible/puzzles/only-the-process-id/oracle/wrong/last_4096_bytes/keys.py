import hashlib

POOL_SIZE = 4096


class Pool:
    def __init__(self, pid):
        self.pid = str(pid).encode()
        self.pool = b""
        self.size = 0
        self.steps = 0

    def add(self, data):
        self.pool += len(data).to_bytes(8, "big") + data
        self.pool = self.pool[-POOL_SIZE:]
        self.size += len(data)
        self.steps += 1

    def key(self):
        if self.size < 16:
            raise ValueError("not enough entropy in the pool")
        head = f"{self.pid.decode()} {self.steps} {self.size}|".encode()
        key = hashlib.sha256(head + self.pool).hexdigest()
        self.pool = (self.pool + b"key" + bytes.fromhex(key))[-POOL_SIZE:]
        self.steps += 1
        return key


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
