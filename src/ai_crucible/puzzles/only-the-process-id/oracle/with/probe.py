from keys import Pool


def compared():
    """What `same` says of pools, and of ones that never repeat themselves."""
    import keys

    kept, count = keys.Pool, iter(range(99))
    honest = keys.same(1, ["0123456789abcdef"])
    keys.Pool = lambda pid: kept(next(count))
    return [honest, keys.same(1, ["0123456789abcdef"])]


def keys(histories):
    """The keys that pools give, one list for each (process id, steps): a step is bytes to add, or None for a key."""
    answers = []
    for pid, steps in histories:
        pool, taken = Pool(pid), []
        for step in steps:
            if step is not None:
                pool.add(step)
                continue
            try:
                taken.append(pool.key())
            except ValueError:
                taken.append("refused")
        answers.append(taken)
    return answers


def at_once(plans):
    """Whether pools that take their steps in turn give the keys that each gives alone, and whether it gives them again."""
    alone = keys(plans)
    pools, taken = [Pool(pid) for pid, _ in plans], [[] for _ in plans]
    for place in range(max(len(steps) for _, steps in plans)):
        for number, (_, steps) in enumerate(plans):
            if place < len(steps):
                if steps[place] is None:
                    taken[number].append(pools[number].key())
                else:
                    pools[number].add(steps[place])
    return [taken == alone, keys(plans) == alone]
