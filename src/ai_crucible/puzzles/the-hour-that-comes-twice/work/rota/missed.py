"""What is still to be run of what was missed."""

from datetime import timedelta

from rota.plan import MINUTE, due


def catch_up(jobs, since, now):
    """Return the runs after one instant, up to another one, that are to be run at the latter."""
    runs = due(jobs, since + MINUTE, now + MINUTE)
    kept = []
    for run in runs:
        late = now - run.at > timedelta(minutes=run.job.grace)
        if not late or run.job.missed == "all":
            kept.append(run)
        elif run.job.missed == "once":
            kept = [each for each in kept if each.job is not run.job]
            kept.append(run)
    return kept
