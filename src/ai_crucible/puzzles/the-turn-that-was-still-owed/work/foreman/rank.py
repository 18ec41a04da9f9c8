"""How important jobs are."""


def ranks(tasks):
    """Return the rank of each job by name."""
    found = {name: task.job.priority for name, task in tasks.items()}
    for task in tasks.values():
        for name in task.job.after:
            if task.here:
                found[name] = max(found[name], task.job.priority)
    return found
