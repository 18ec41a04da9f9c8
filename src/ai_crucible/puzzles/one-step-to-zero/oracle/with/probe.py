from interlock import Interlock


def steps(positions):
    """What each pass answers and what the flag is after it; None is a reset."""
    lock, seen = Interlock(), []
    for position in positions:
        answer = lock.reset() if position is None else lock.see(position)
        seen.append([answer if position is not None else None, lock.flag])
    return seen
