"""Asks the readers of a solution what the checks compare."""

import contextlib
import io
import os
import tempfile

import parley
from parley import Reader, frames
from parley.__main__ import main


def told(events):
    """Events as lists; what is no list of events shows."""
    if type(events) is not list:
        return "no list"
    return [[getattr(parley, type(each).__name__) is type(each) and type(each).__name__, *vars(each).values()] for each in events]


def fed(patience, most, steps):
    """What each call returns: bytes are fed, numbers are ticks, None closes. Without patience the reader has its own bounds."""
    reader, answers = Reader(patience, most) if patience else Reader(), []
    for step in steps:
        try:
            if step is None:
                answers.append(told(reader.close()))
            elif isinstance(step, int):
                answers.append(told(reader.tick(step) if step != 1 else reader.tick()))
            else:
                data = bytearray(step)
                answers.append(told(reader.feed(data)))
                data[:] = b"\n" * len(data)
        except ValueError:
            answers.append("refused")
    return answers


def written(id, text, size):
    return frames(id, text, size)


def printed(data, way, *words):
    """Exit and output of the command line."""
    with tempfile.TemporaryDirectory() as room:
        path = os.path.join(room, "t")
        if data is not None:
            with open(path, "wb") as file:
                file.write(data)
        out = io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(io.StringIO()):
            code = main([way, path, *words])
    return [code, out.getvalue()]
