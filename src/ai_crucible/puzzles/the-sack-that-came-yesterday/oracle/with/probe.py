"""Asks the ledgers of a solution what the checks compare."""

import contextlib
import copy
import io
import os
import tempfile

import granary
from granary import LogError, Posting, read
from granary.__main__ import main


def asked(text, questions):
    """Answers to questions, asked one after another of one ledger; the fault where it cannot be read."""
    try:
        ledger = read(text)
    except LogError as fault:
        return ["fault", fault.line, str(fault) == f"line {fault.line}: {fault.reason}"]
    before, answers = copy.deepcopy(ledger.entries), []
    for way, *words in questions:
        known = {} if words[-1] is None else {"known": words[-1]}
        answer = getattr(granary, way)(ledger, *words[:-1], **known)
        if way == "journal":
            answer = [[each.day, each.number, each.good, each.amount, type(each) is Posting] for each in answer]
        answers.append(answer)
    return [answers, ledger.entries == before]


def printed(text, way, *words):
    """Exit and output of the command line."""
    with tempfile.TemporaryDirectory() as room:
        path = os.path.join(room, "t")
        if text is not None:
            with open(path, "w", encoding="utf-8", newline="") as file:
                file.write(text)
        out = io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(io.StringIO()):
            code = main([way, path, *words])
    return [code, out.getvalue()]
