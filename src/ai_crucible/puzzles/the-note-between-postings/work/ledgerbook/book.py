"""The book: what entries do to accounts, day by day."""

from bisect import bisect_right, insort

from ledgerbook.amounts import Money

KINDS = ("assets", "liabilities", "equity", "income", "expenses")


class Book:
    """Entries by day, and the balances that follow from them."""

    def __init__(self, entries=()):
        self._entries = []
        self._closed = None
        for entry in entries:
            self.add(entry)

    def add(self, entry):
        """Enter it; a day that is closed takes nothing more."""
        for posting in entry.postings:
            if posting.account.split(":")[0] not in KINDS:
                raise ValueError(f"{posting.account}: an account begins with one of {', '.join(KINDS)}")
        if self._closed is not None and entry.day <= self._closed:
            raise ValueError(f"{entry.day} is closed")
        insort(self._entries, entry, key=lambda one: one.day)

    def close(self, day):
        """Close all days up to one; a book is never opened again."""
        if self._closed is None or day > self._closed:
            self._closed = day

    @property
    def closed(self):
        """The last day that is closed, or None."""
        return self._closed

    def entries(self, until=None):
        """The entries by day, those of one day in the order in which they came."""
        if until is None:
            return list(self._entries)
        return self._entries[: bisect_right(self._entries, until, key=lambda one: one.day)]

    def accounts(self):
        """The names of all accounts that have postings, sorted."""
        return sorted({posting.account for entry in self._entries for posting in entry.postings})

    def balance(self, account, until=None):
        """What an account holds with all below it, at the end of a day."""
        amounts = []
        for entry in self.entries(until):
            for posting in entry.postings:
                if within(posting.account, account):
                    amounts.append(posting.amount)
        return Money(amounts)

    def running(self, account):
        """The entries that touch an account, each with the balance after it."""
        rows, total = [], Money()
        for entry in self._entries:
            change = Money(posting.amount for posting in entry.postings if within(posting.account, account))
            if any(within(posting.account, account) for posting in entry.postings):
                total = total + change
                rows.append((entry, change, total))
        return rows


def within(account, parent):
    """Tell whether an account is another or lies below it."""
    return account == parent or account.startswith(parent + ":")
