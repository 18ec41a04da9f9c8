"""Time goes by."""

from foreman.choose import chosen
from foreman.report import Outcome, Report, Run
from foreman.tasks import COMING, DONE, DROPPED, RUNNING, WAITING, Task


def simulate(table):
    """Return what comes of a table."""
    tasks = {name: Task(job, place) for place, (name, job) in enumerate(table.jobs.items())}
    report, now = Report(used=dict.fromkeys(table.weights, 0)), 0
    while instants := [instant for task in tasks.values() for instant in task.next()]:
        then = min(instants)
        for task in tasks.values():
            if task.state == RUNNING:
                task.ran += then - now
                report.used[task.job.user] += task.job.slots * (then - now)
        now = then
        step(tasks, report, now)
        decide(table, tasks, report, now)
    for name, task in tasks.items():
        if task.over:
            report.outcomes[name] = Outcome(task.state, task.over_at, task.ran - task.job.ticks if task.state == DONE else task.ran)
        else:
            report.outcomes[name] = Outcome("waiting")
    report.runs.sort(key=lambda run: (run.start, tasks[run.job.name].place))
    return report


def step(tasks, report, now):
    """Let jobs be done, be dropped and come."""
    for task in tasks.values():
        if task.state == RUNNING and task.since + task.job.ticks - task.kept == now:
            finish(task, report, now, DONE)
    for task in tasks.values():
        if task.state == COMING and task.job.at == now:
            task.state = WAITING
    doomed = lost(tasks, now)
    for name, task in tasks.items():
        if task.here and name in doomed:
            finish(task, report, now, DROPPED)


def lost(tasks, now):
    """Return the jobs that are dropped, must be now, or wait for such, be they here or not."""
    late = [task for task in tasks.values() if task.here and task.job.until is not None and task.job.until <= now]
    found = {task.job.name for task in tasks.values() if task.state == DROPPED or task in late}
    more = found
    while more:
        more = {name for name, task in tasks.items() if name not in found and not found.isdisjoint(task.job.after)}
        found = found | more
    return found


def finish(task, report, now, state):
    """A job is over."""
    if task.state == RUNNING:
        report.runs.append(Run(task.since, now, task.job))
    task.state, task.over_at = state, now


def decide(table, tasks, report, now):
    """Start and stop jobs."""
    running = chosen(table, tasks, report.used)
    for task in tasks.values():
        if task.state == RUNNING and task not in running:
            report.runs.append(Run(task.since, now, task.job))
            task.stop(now)
        elif task.state == WAITING and task in running:
            task.state, task.since = RUNNING, now
