"""Calls that the checks make of a solution."""

import contextlib
import io
import os
import tempfile
from datetime import date

from ledgerbook import Amount, Book, Entry, JournalError, Money, Posting, read_journal, write_journal
from ledgerbook.__main__ import main
from ledgerbook.reports import profit, table, tree


def read(text):
    """The entries of a journal as plain values, or the line and reason of its fault."""
    try:
        entries = read_journal(text)
    except JournalError as fault:
        return ["fault", fault.line, str(fault) == f"line {fault.line}: {fault.reason}"]
    if read_journal(text) != entries:
        return "not the same when it is read again"
    for one in entries:
        kinds = {type(one), type(one.day), type(one.postings), *map(type, one.postings), *(type(p.amount) for p in one.postings), *(type(p.amount.units) for p in one.postings)}
        if kinds != {Entry, date, tuple, Posting, Amount, int}:
            return "made of other kinds of things"
    return [[str(e.day), e.text, e.line, [[p.account, str(p.amount)] for p in e.postings]] for e in entries]


def fault(text):
    """The line of a fault and what is said of it."""
    try:
        return read_journal(text) and "no fault"
    except JournalError as fault:
        return [fault.line, fault.reason if str(fault) == f"line {fault.line}: {fault.reason}" else str(fault)]


def written(text):
    """What is written of what was read; that is left as it was."""
    entries = read_journal(text)
    before = list(entries)
    words = write_journal(entries)
    return words if entries == before and words == write_journal(iter(entries)) else "something has changed"


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
    own = Entry(first.day, first.text, tuple(Posting(p.account, Amount(p.amount.units, p.amount.currency)) for p in first.postings), 77)
    return [*frozen, hash(first) == hash(again), first == again, type(first)(first.day, "x", ()).line, own == first]


def again(text):
    """What is read from what is written of what was read."""
    return read_without_lines(write_journal(read_journal(text)))


def read_without_lines(text):
    return [[day, words, postings] for day, words, _, postings in read(text)]


def balances(text, accounts):
    book = Book(read_journal(text))
    return [str(book.balance(account)) for account in accounts]


def books(text, until, depth, account):
    """All that a book and its reports say."""
    entries = read_journal(text)
    book, last = Book(entries), date.fromisoformat(until)
    said = {
        "days": [str(entry.day) for entry in book.entries(last)],
        "accounts": book.accounts(),
        "balance": str(book.balance(account, last)),
        "running": [[str(entry.day), entry.text, str(change), str(total)] for entry, change, total in book.running(account)],
        "tree": [[name, str(balance)] for name, balance in tree(book, last, depth)],
        "table": table(tree(book)),
        "profit": str(profit(book, date(2026, 3, 1), last)),
    }
    book.close(last)
    book.close(date(2020, 1, 1))
    refused = []
    for entry in entries:
        try:
            book.add(entry)
        except ValueError:
            refused.append(str(entry.day))
    said["closed"] = [str(book.closed), refused]
    return said


def amount(text, currency):
    try:
        return str(Amount.parse(text, currency))
    except ValueError:
        return None


def money(one, other):
    one, other = (Money(Amount(*each) for each in some) for some in (one, other))
    return [str(one), str(one + other), str(-one), one == other and hash(one) == hash(other), bool(one), [str(one.of(each)) for each in ("EUR", "JPY", "KWD")]]


def printed(text, *words):
    """Exit and output of the command line."""
    with tempfile.TemporaryDirectory() as room:
        path = os.path.join(room, "j")
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            try:
                code = main([path, *words])
            except SystemExit as end:
                return ["exit", end.code]
    return [code, out.getvalue(), err.getvalue().replace(path, "J")]
