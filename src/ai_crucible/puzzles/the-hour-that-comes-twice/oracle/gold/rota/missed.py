"""What is still to be run of what was missed."""

from datetime import timedelta

from rota.plan import MINUTE, due


def catch_up(jobs, since, now):
    """Return the runs after one instant, up to another one, that are to be run at the latter."""
    runs = due(jobs, since + MINUTE, now + MINUTE)
    late = [run for run in runs if now - run.at > timedelta(minutes=run.job.grace)]
    latest = {run.job.name: run for run in late}
    for run in runs:
        if run not in late:
            latest[run.job.name] = None
    return [
        run
        for run in runs
        if run not in late or run.job.missed == "all" or (run.job.missed == "once" and run is latest[run.job.name])
    ]
