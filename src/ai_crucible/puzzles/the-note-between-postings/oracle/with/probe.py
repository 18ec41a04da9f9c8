"""Calls that the checks make of a solution."""

import contextlib
import io
import os
import tempfile

from ledgerbook import Book, JournalError, read_journal, write_journal
from ledgerbook.__main__ import main


def read(text):
    """The entries of a journal as plain values, or the line and reason of its fault."""
    try:
        entries = read_journal(text)
    except JournalError as fault:
        return ["fault", fault.line, str(fault) == f"line {fault.line}: {fault.reason}"]
    return [[str(e.day), e.text, e.line, [[p.account, str(p.amount)] for p in e.postings]] for e in entries]


def written(text):
    """What is written of what was read."""
    return write_journal(read_journal(text))


def values(text):
    """Whether entries and their postings cannot be changed, are equal wherever they stand, and have no line at first."""
    first, again = read_journal(text)[0], read_journal("\n" + text)[0]
    frozen = []
    for one, name in ((first, "text"), (first.postings[0], "account")):
        try:
            setattr(one, name, "x")
            frozen.append(False)
        except AttributeError:
            frozen.append(True)
    return [*frozen, hash(first) == hash(again), first == again, type(first)(first.day, "x", ()).line]


def again(text):
    """What is read from what is written of what was read."""
    return read_without_lines(write_journal(read_journal(text)))


def read_without_lines(text):
    return [[day, words, postings] for day, words, _, postings in read(text)]


def balances(text, accounts):
    book = Book(read_journal(text))
    return [str(book.balance(account)) for account in accounts]


def printed(text, *words):
    """Exit and output of the command line."""
    with tempfile.TemporaryDirectory() as room:
        path = os.path.join(room, "j")
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        out = io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(io.StringIO()):
            code = main([path, *words])
    return [code, out.getvalue()]
