"""Logs as text."""

from granary.entries import LogError, entry


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
        words = line.split()
        if not words or words[0].startswith("#"):
            continue
        try:
            entries.append(entry(len(entries) + 1, words))
        except ValueError as fault:
            raise LogError(number, str(fault)) from None
    return Ledger(entries)
