"""Plans as text."""

from itertools import groupby


def by_day(runs):
    """A heading for each day, and a line for each run."""
    lines = []
    for day, own in groupby(runs, key=lambda run: run.at.date()):
        lines.append(f"{day:%Y-%m-%d %a}")
        lines += [f"  {run.at:%H:%M}  {run.job.name}  {run.job.command}" for run in own]
    return "".join(f"{line}\n" for line in lines)


def counts(runs):
    """How often each job runs, most often first."""
    numbers = {}
    for run in runs:
        numbers[run.job.name] = numbers.get(run.job.name, 0) + 1
    ordered = sorted(numbers.items(), key=lambda item: (-item[1], item[0]))
    return "".join(f"{number:>5}  {name}\n" for name, number in ordered)
