"""Which jobs run."""

from foreman.rank import ranks
from foreman.tasks import DONE, RUNNING


def ready(tasks):
    """Return the jobs that could run."""
    return [task for task in tasks.values() if task.here and all(tasks[name].state == DONE for name in task.job.after)]


def chosen(table, tasks, used):
    """Return the jobs that run."""
    rank = ranks(tasks)

    def order(task):
        job = task.job
        return -rank[job.name], used[job.user] / table.weights[job.user], task.state != RUNNING, job.at, task.place

    free, found = table.slots, []
    for task in sorted(ready(tasks), key=order):
        if task.job.slots <= free:
            free -= task.job.slots
            found.append(task)
    return found
