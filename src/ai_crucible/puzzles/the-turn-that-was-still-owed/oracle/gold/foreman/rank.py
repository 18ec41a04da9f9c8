"""How important jobs are."""


def ranks(tasks):
    """Return the rank of each job by name: what waits hands its priority on, the greatest first."""
    found = {}
    for task in sorted(tasks.values(), key=lambda task: -task.job.priority):
        walk = [task] if task.here else []
        while walk:
            each = walk.pop()
            if each.job.name not in found and not each.over:
                found[each.job.name] = task.job.priority
                walk += [tasks[name] for name in each.job.after]
    return found
