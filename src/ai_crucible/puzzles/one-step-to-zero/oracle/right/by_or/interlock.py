class Interlock:
    def __init__(self):
        self.flag = 0

    def see(self, in_place):
        self.flag |= int(not in_place)
        return self.flag == 0

    def reset(self):
        self.flag = 0


def passes(positions):
    lock = Interlock()
    beam = []
    for position in positions:
        if position is None:
            lock.reset()
        else:
            beam.append(lock.see(position))
    return beam


def after(count):
    lock = Interlock()
    for _ in range(count):
        lock.see(False)
    return [lock.see(True), lock.flag]
