"""Logs as text."""

import re

from granary.entries import FIELDS, LogError, entry


class Ledger:
    """The entries of a log, in the order in which they were added."""

    def __init__(self, entries):
        self.entries = list(entries)

    def upto(self, known=None):
        """Return the entries that there were when the log had so many; all where nothing is said."""
        return self.entries if known is None else self.entries[:known]


def read(text):
    """Return the ledger that a text is."""
    entries = []
    for number, line in enumerate(text.split("\n"), 1):
        words = re.findall(r"[^ \t]+", line)
        if not words or words[0].startswith("#"):
            continue
        try:
            found = entry(len(entries) + 1, words)
            _check(found, entries)
        except ValueError as fault:
            raise LogError(number, str(fault)) from None
        entries.append(found)
    return Ledger(entries)


def _check(found, entries):
    if found.kind not in ("fix", "void"):
        return
    if found.target > len(entries):
        raise ValueError("there is no such entry before")
    if found.kind == "fix" and found.field not in FIELDS.get(entries[found.target - 1].kind, ()):
        raise ValueError(f"that entry has no {found.field} to correct")
    if found.field == "day" and not found.value:
        raise ValueError("days are counted from 1")
