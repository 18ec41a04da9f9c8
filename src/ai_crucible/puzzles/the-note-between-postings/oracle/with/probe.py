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
        return ["fault", fault.line]
    return [[str(e.day), e.text, e.line, [[p.account, str(p.amount)] for p in e.postings]] for e in entries]


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
