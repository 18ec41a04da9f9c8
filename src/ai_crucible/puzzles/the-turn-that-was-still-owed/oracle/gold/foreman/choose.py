"""Which jobs run."""

from fractions import Fraction

from foreman.rank import ranks
from foreman.tasks import DONE, RUNNING


def ready(tasks):
    """Return the jobs that could run."""
    return [task for task in tasks.values() if task.here and all(tasks[name].state == DONE for name in task.job.after)]


def chosen(table, tasks, used):
    """Return the jobs that run."""
    rank, given = ranks(tasks), dict.fromkeys(table.weights, 0)

    def order(task):
        job = task.job
        weight = table.weights[job.user]
        shares = Fraction(given[job.user], weight), Fraction(used[job.user], weight)
        return -rank[job.name], *shares, task.state != RUNNING, job.at, task.place

    free, found, left, short = table.slots, [], ready(tasks), None
    while left:
        task = min(left, key=order)
        left.remove(task)
        if short is not None and rank[task.job.name] < short and task.state != RUNNING:
            continue
        if task.job.slots <= free:
            free -= task.job.slots
            given[task.job.user] += task.job.slots
            found.append(task)
        elif short is None:
            short = rank[task.job.name]
    return found
