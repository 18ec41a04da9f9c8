from interlock import Interlock


def steps(positions):
    """What each pass answers and what the flag is after it; None is a reset."""
    lock, seen = Interlock(), []
    for position in positions:
        answer = lock.reset() if position is None else lock.see(position)
        seen.append([answer if position is not None else None, lock.flag])
    return seen


def several(count, steps):
    """The flags of so many new interlocks, then what each step's answers and all the flags after it."""
    locks = [Interlock() for _ in range(count)]
    first, seen = [lock.flag for lock in locks], []
    for which, position in steps:
        answer = locks[which].reset() if position is None else locks[which].see(position)
        seen.append([answer if position is not None else None, [lock.flag for lock in locks]])
    return [first, seen]
