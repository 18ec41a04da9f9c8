"""Time goes by."""

from foreman.choose import chosen
from foreman.report import Outcome, Report, Run
from foreman.tasks import COMING, DONE, DROPPED, RUNNING, WAITING, Task


def simulate(table):
    """Return what comes of a table."""
    tasks = {name: Task(job, place) for place, (name, job) in enumerate(table.jobs.items())}
    report = Report(used=dict.fromkeys(table.weights, 0))
    now = 0
    while any(task.state in (COMING, RUNNING) or (task.here and task.job.until) for task in tasks.values()):
        step(tasks, report, now)
        decide(table, tasks, report, now)
        for task in tasks.values():
            if task.state == RUNNING:
                task.ran += 1
                report.used[task.job.user] += task.job.slots
        now += 1
    for name, task in tasks.items():
        if task.over:
            report.outcomes[name] = Outcome(task.state, task.over_at, task.ran - task.job.ticks if task.state == DONE else task.ran)
        else:
            report.outcomes[name] = Outcome("waiting")
    report.runs.sort(key=lambda run: run.start)
    return report


def step(tasks, report, now):
    """Let jobs come, be dropped and be done."""
    for task in tasks.values():
        if task.state == COMING and task.job.at <= now:
            task.state = WAITING
        if task.here and task.job.until is not None and task.job.until <= now:
            finish(task, report, now, DROPPED)
        if task.here and any(tasks[name].state == DROPPED for name in task.job.after):
            finish(task, report, now, DROPPED)
        if task.state == RUNNING and task.end() <= now:
            finish(task, report, now, DONE)


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
