import contextlib
import io
import os
import tempfile
from datetime import datetime

from wheel import FieldError, Schedule, TableError, due, read_table, write_table
from wheel.__main__ import main


def after(words, moment, count=1):
    """The moments at which a schedule comes next."""
    try:
        schedule = Schedule.read(words)
    except FieldError:
        return "FieldError"
    at, seen = datetime.fromisoformat(moment), []
    for _ in range(count):
        at = schedule.after(at)
        if at is None:
            return [*seen, None]
        seen.append(at.isoformat())
        if not schedule.includes(at):
            return "it is not due when it comes"
    return seen


def planned(table, since, until, most):
    """What is due, or the line of a fault."""
    try:
        jobs = read_table(table)
    except TableError as fault:
        return ["fault", fault.line]
    runs = due(jobs, datetime.fromisoformat(since), datetime.fromisoformat(until), most)
    return [[run.at.isoformat(), run.job.name, run.job.command] for run in runs]


def again(table):
    return write_table(read_table(table))


def printed(table, *words):
    """Exit and output of the command line."""
    out = io.StringIO()
    with tempfile.TemporaryDirectory() as room:
        path = os.path.join(room, "t")
        with open(path, "w", encoding="utf-8") as file:
            file.write(table)
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(io.StringIO()):
            code = main([*([path] if table else []), *words])
    return [code, out.getvalue()]
