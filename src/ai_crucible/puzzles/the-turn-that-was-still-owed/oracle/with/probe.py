"""Asks the foreman of a solution what the checks compare."""

import contextlib
import io
import os
import tempfile

from foreman import Outcome, TableError, read_table, simulate
from foreman.__main__ import main


def simulated(text):
    """Runs, outcomes and what users used, as plain values."""
    report = simulate(read_table(text))
    runs = [[run.start, run.end, run.job.name] for run in report.runs]
    outcomes = {name: [each.state, each.at, each.lost] for name, each in report.outcomes.items()}
    return [runs, outcomes, report.used]


def long_line(count, after):
    """The ranks that a line of jobs hands on: a low job that the last of them waits for goes before a middle one."""
    lines = ["slots 1", "user u 1", "job middle u 1 1 priority 1", "job j0 u 1 1"]
    lines += [f"job j{n} u 1 1 after j{n - 1}" + (" priority 2" if n == count else "") for n in range(1, count + 1)]
    if after:
        lines[-1] += f" until {after}"
    report = simulate(read_table("\n".join(lines)))
    return [report.runs[0].job.name, report.runs[-1].job.name, len(report.runs), report.outcomes[f"j{count}"] == Outcome("dropped", after, 0)]


def read(text):
    """A table as plain values, or the line of its fault."""
    try:
        table = read_table(text)
    except TableError as fault:
        return ["fault", fault.line, str(fault) == f"line {fault.line}: {fault.reason}"]
    jobs = [[j.name, j.user, j.slots, j.ticks, j.priority, j.at, j.after, j.save, j.until] for j in table.jobs.values()]
    return [table.slots, table.weights, jobs]


def printed(text):
    """Exit and output of the command line."""
    with tempfile.TemporaryDirectory() as room:
        path = os.path.join(room, "t")
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        out = io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(io.StringIO()):
            code = main([path])
    return [code, out.getvalue()]
