"""The journal's text: read into entries, and written again."""

import re
from dataclasses import dataclass, field
from datetime import date

from ledgerbook.amounts import Amount, Money

HEAD = re.compile(r"(\d{4}-\d{2}-\d{2})\s+(.*\S)")
POSTING = re.compile(r"\s+([a-z][a-z0-9-]*(?::[a-z0-9-]+)*)(?:\s+(-?[0-9.]+)\s+(\S+))?\s*")


class JournalError(ValueError):
    """A journal that cannot be read: says the line and why."""

    def __init__(self, line, reason):
        super().__init__(f"line {line}: {reason}")
        self.line = line
        self.reason = reason


@dataclass(frozen=True)
class Posting:
    """What an entry does to one account."""

    account: str
    amount: Amount


@dataclass(frozen=True)
class Entry:
    """Postings of one day that add up to zero."""

    day: date
    text: str
    postings: tuple
    line: int = field(default=0, compare=False)


def read_journal(text):
    """Return the entries of a journal in the order of the text."""
    entries = []
    head, postings = None, []
    for number, line in enumerate(text.split("\n"), 1):
        plain = line.split(";")[0].rstrip()
        if not plain:
            if head:
                entries.append(_entry(head, postings))
                head, postings = None, []
            continue
        if not plain[0].isspace():
            if head:
                entries.append(_entry(head, postings))
            head, postings = _head(number, plain), []
        elif head is None:
            raise JournalError(number, "a posting without an entry")
        else:
            postings.append(_posting(number, plain))
    if head:
        entries.append(_entry(head, postings))
    return entries


def _head(number, line):
    match = HEAD.fullmatch(line)
    if match is None:
        raise JournalError(number, "an entry begins with a day and a text")
    try:
        return number, date.fromisoformat(match[1]), match[2]
    except ValueError:
        raise JournalError(number, f"{match[1]} is no day") from None


def _posting(number, line):
    match = POSTING.fullmatch(line)
    if match is None:
        raise JournalError(number, "a posting is an account and maybe an amount with its currency")
    if match[2] is None:
        return number, match[1], None
    try:
        return number, match[1], Amount.parse(match[2], match[3])
    except ValueError as fault:
        raise JournalError(number, str(fault)) from None


def _entry(head, postings):
    number, day, text = head
    if len(postings) < 2:
        raise JournalError(number, "an entry has at least two postings")
    left = [place for place, (_, _, amount) in enumerate(postings) if amount is None]
    if len(left) > 1:
        raise JournalError(postings[left[1]][0], "only one posting may leave its amount out")
    rest = -Money(amount for _, _, amount in postings if amount is not None)
    if left:
        line, account, _ = postings[left[0]]
        if not rest:
            raise JournalError(line, "nothing is left for the posting without an amount")
        postings = postings[: left[0]] + [(line, account, rest.amounts()[0])] + postings[left[0] + 1 :]
    elif rest:
        raise JournalError(number, f"the postings do not add up: {-rest} too much")
    return Entry(day, text, tuple(Posting(account, amount) for _, account, amount in postings), number)


def write_journal(entries):
    """Return entries as a journal's text, by day."""
    blocks = []
    for entry in sorted(entries, key=lambda entry: entry.day):
        lines = [f"{entry.day} {entry.text}"]
        lines += [f"    {posting.account:<28} {posting.amount}" for posting in entry.postings]
        blocks.append("\n".join(lines) + "\n")
    return "\n".join(blocks)
